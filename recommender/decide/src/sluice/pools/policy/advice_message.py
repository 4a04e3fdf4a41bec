"""Converts advice on the hardware to and from its messages, `Advice` and `Standing` (proto/sluice/pools/v1)."""

from __future__ import annotations

from sluice.model.times import timestamp
from sluice.pools.policy.decision import Advice, Advised
from sluice.pools.policy.message_time import unix_ms
from sluice.pools.policy.state import Standing
from sluice.pools.policy.state_check import IllegalStateError
from sluice.pools.v1 import advice_pb2
from sluice.pools.v1.state_pb2 import Standing as StandingMessage

KINDS = {advice_pb2.Advice.Kind.Value(f"KIND_{kind.name}"): kind for kind in Advised}


def advice_message(advice: Advice) -> advice_pb2.Advice:
    return advice_pb2.Advice(
        kind=advice_pb2.Advice.Kind.Value(f"KIND_{advice.kind.name}"),
        since=timestamp(advice.since_ms),
        asked_per_s=advice.asked_per_s,
        in_time=advice.in_time,
        best=advice.best,
        best_per_s=advice.best_per_s,
        cpu_limit_cores=advice.cores,
        replicas=advice.replicas,
        advised_cpu_limit_cores=advice.to_cores,
        advised_replicas=advice.to_replicas,
    )


def advice_of(message: advice_pb2.Advice) -> Advice:
    """The advice in a message. IllegalError for an unknown kind; the checks of the state say which
    numbers are legal."""
    if message.kind not in KINDS:
        legal = ", ".join(kind.name for kind in Advised)
        raise IllegalStateError(f"advice.kind {message.kind} is not legal; legal: {legal}")
    return Advice(
        kind=KINDS[message.kind],
        since_ms=unix_ms(message.since),
        asked_per_s=message.asked_per_s,
        in_time=message.in_time if message.HasField("in_time") else None,
        best=message.best,
        best_per_s=message.best_per_s,
        cores=message.cpu_limit_cores if message.HasField("cpu_limit_cores") else None,
        replicas=message.replicas if message.HasField("replicas") else None,
        to_cores=message.advised_cpu_limit_cores if message.HasField("advised_cpu_limit_cores") else None,
        to_replicas=message.advised_replicas if message.HasField("advised_replicas") else None,
    )


def standing_message(standing: Standing) -> StandingMessage | None:
    """The message of a standing; None where it is empty."""
    if standing == Standing():
        return None
    return StandingMessage(
        until=None if standing.until_ms == -1 else timestamp(standing.until_ms),
        short=standing.short,
        spare=standing.spare,
        cpu_limit_cores=standing.cores,
        replicas=standing.replicas,
        advice=None if standing.advice is None else advice_message(standing.advice),
    )


def standing_of(message: StandingMessage) -> Standing:
    return Standing(
        until_ms=unix_ms(message.until) if message.HasField("until") else -1,
        short=message.short,
        spare=message.spare,
        cores=message.cpu_limit_cores,
        replicas=message.replicas,
        advice=advice_of(message.advice) if message.HasField("advice") else None,
    )
