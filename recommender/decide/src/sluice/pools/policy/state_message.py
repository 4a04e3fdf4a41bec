"""Converts a pool's state to and from its messages, `PoolFacts` and `PoolEvidence` (proto/sluice/pools/v1/state.proto).

Both ways give the same value: numbers are not rounded. Unknown fields, as of a later version, are ignored. Both
messages carry the time of the newest decision: facts are written seldom, and `now` must not fall over a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import DecodeError

from sluice.model.keys import PoolKey, Side
from sluice.model.states import State
from sluice.model.times import timestamp
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence, Level, Second
from sluice.pools.policy.advice_message import standing_message, standing_of
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.message_time import unix_ms
from sluice.pools.policy.need import Peak
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.state_check import IllegalStateError, check_facts, check_learnt, check_time
from sluice.pools.policy.trust import Trust
from sluice.pools.policy.trust_message import trust_message, trust_of
from sluice.pools.policy.waits import Waits
from sluice.pools.v1 import pool_pb2, pool_size_pb2
from sluice.pools.v1.state_pb2 import PoolEvidence, PoolFacts, SizeChange

_SIDES: dict[Side, pool_pb2.Side.ValueType] = {
    "server": pool_pb2.SIDE_SERVER,
    "client": pool_pb2.SIDE_CLIENT,
    "consumer": pool_pb2.SIDE_CONSUMER,
}

# By its number: a basis of an older version, whose records are read as this one.
_FORMER = {6: Basis.CURVE}

Value = TypeVar("Value")
Parsed = TypeVar("Parsed", PoolFacts, PoolEvidence)


class StateError(ValueError):
    """A part of a pool's state cannot be read or written. The message names the part, the pool and the cause."""


def write_facts(key: PoolKey, state: PoolState) -> bytes:
    """A `PoolFacts`; StateError for numbers that are not legal."""
    return _checked(f"write facts of {key}", lambda: _facts_message(key, state.facts).SerializeToString())


def write_evidence(key: PoolKey, state: PoolState) -> bytes:
    """A `PoolEvidence`; StateError for numbers that are not legal."""
    return _checked(f"write evidence of {key}", lambda: _evidence_message(key, state).SerializeToString())


def read_facts(key: PoolKey, value: bytes) -> Facts:
    """Facts from a `PoolFacts`; StateError when it is none, of another pool, or its numbers are not legal."""
    return _checked(f"read facts of {key}", lambda: _facts(_parsed(key, PoolFacts(), value)))


def read_evidence(key: PoolKey, value: bytes) -> tuple[Learnt, int]:
    """Evidence from a `PoolEvidence`, with the newest time of a decision (Unix ms); StateError as for `read_facts`."""
    return _checked(f"read evidence of {key}", lambda: _learnt(_parsed(key, PoolEvidence(), value)))


def joined(facts: Facts | None, evidence: tuple[Learnt, int] | None) -> PoolState:
    """The state from both parts; a missing part is that of a new pool."""
    facts = facts or Facts()
    learnt, now_ms = evidence or (Learnt(), 0)
    return PoolState(replace(facts, now_ms=max(facts.now_ms, now_ms)), learnt)


def _checked(what: str, call: Callable[[], Value]) -> Value:
    try:
        return call()
    except (ValueError, TypeError, DecodeError) as cause:
        raise StateError(f"{what}: {cause}") from cause


def _facts_message(key: PoolKey, facts: Facts) -> PoolFacts:
    check_facts(facts)
    message = PoolFacts(
        pool=_pool(key),
        now=timestamp(facts.now_ms),
        current=facts.current,
        baseline=facts.baseline,
    )
    if facts.state is not None:
        message.state = pool_size_pb2.State.Value(f"STATE_{facts.state.name}")
    change = facts.change
    if change is not None:
        message.change.CopyFrom(_change_message(change))
    if facts.trust != Trust():
        message.trust.CopyFrom(trust_message(facts.trust))
    return message


def _change_message(change: Change) -> SizeChange:
    return SizeChange(
        from_size=change.from_size,
        to_size=change.to_size,
        at=timestamp(change.at_ms),
        basis=pool_size_pb2.Basis.Value(f"BASIS_{change.basis.name}"),
        targets=change.targets,
    )


def _facts(message: PoolFacts) -> Facts:
    facts = Facts(
        now_ms=unix_ms(message.now),
        current=message.current if message.HasField("current") else None,
        change=_change(message.change) if message.HasField("change") else None,
        baseline=message.baseline if message.HasField("baseline") else None,
        state=_state(message.state) if message.state else None,
        trust=trust_of(message.trust) if message.HasField("trust") else Trust(),
    )
    check_facts(facts)
    return facts


def _change(message: SizeChange) -> Change:
    number = message.basis
    known = {pool_size_pb2.Basis.Value(f"BASIS_{basis.name}"): basis for basis in Basis} | _FORMER
    if number not in known:
        raise IllegalStateError(
            f"change.basis {number} is not legal; legal: {', '.join(basis.name for basis in Basis)}"
        )
    return Change(message.from_size, message.to_size, unix_ms(message.at), known[number], tuple(message.targets))


def _state(number: int) -> State:
    known: dict[int, State] = {pool_size_pb2.State.Value(f"STATE_{state.name}"): state for state in State}
    if number not in known:
        raise IllegalStateError(f"state {number} is not legal; legal: {', '.join(state.name for state in State)}")
    return known[number]


def _evidence_message(key: PoolKey, state: PoolState) -> PoolEvidence:
    learnt = state.learnt
    check_learnt(learnt)
    check_time("now", state.facts.now_ms)
    message = PoolEvidence(
        pool=_pool(key),
        now=timestamp(state.facts.now_ms),
        until=None if learnt.until_ms == -1 else timestamp(learnt.until_ms),
        version=learnt.version,
        levels=_level_messages(learnt.evidence),
        doubt_score=learnt.doubt.score,
        full_shares=learnt.full,
        completed=None if learnt.completed_ms is None else timestamp(learnt.completed_ms),
        remembered=learnt.remembered,
        standing=standing_message(learnt.standing),
        waits=None if learnt.waits is None else _waits_message(learnt.waits),
    )
    for second in learnt.doubt.aside:
        message.doubted.add(
            cores=second.cores,
            full=second.full,
            saturated=second.saturated,
            concurrency=second.concurrency,
            completions=second.completions,
            seconds=second.seconds,
        )
    for peak in learnt.peaks:
        message.peaks.add(hour=timestamp(peak.hour_ms), per_s=peak.per_s)
    for version, evidence in learnt.versions:
        message.other_versions.add(version=version, levels=_level_messages(evidence))
    return message


def _learnt(message: PoolEvidence) -> tuple[Learnt, int]:
    learnt = Learnt(
        version=message.version,
        evidence=_evidence(message.levels),
        doubt=Doubt(message.doubt_score, tuple(map(_second, message.doubted))),
        until_ms=unix_ms(message.until) if message.HasField("until") else -1,
        full=tuple(message.full_shares),
        completed_ms=unix_ms(message.completed) if message.HasField("completed") else None,
        remembered=message.remembered,
        versions=tuple((other.version, _evidence(other.levels)) for other in message.other_versions),
        standing=standing_of(message.standing),
        peaks=tuple(Peak(unix_ms(peak.hour), peak.per_s) for peak in message.peaks),
        waits=_waits(message.waits) if message.HasField("waits") else None,
    )
    check_learnt(learnt)
    now_ms = unix_ms(message.now)
    check_time("now", now_ms)
    return learnt, now_ms


def _level_messages(evidence: Evidence) -> list[PoolEvidence.Level]:
    return [
        PoolEvidence.Level(
            cores=level.cores,
            full=level.full,
            saturated=level.saturated,
            step=level.step,
            completions=level.completions,
            seconds=level.seconds,
            in_flight_s=level.in_flight_s,
        )
        for level in evidence.levels
    ]


def _evidence(levels: Iterable[PoolEvidence.Level]) -> Evidence:
    return Evidence(
        tuple(
            Level(
                cores=level.cores,
                full=level.full,
                saturated=level.saturated,
                step=level.step,
                completions=level.completions,
                seconds=level.seconds,
                in_flight_s=level.in_flight_s,
            )
            for level in levels
        )
    )


def _waits_message(waits: Waits) -> PoolEvidence.Waits:
    return PoolEvidence.Waits(
        evidence_s=waits.evidence_s,
        mean_s=waits.mean_s,
        own_s=waits.own_s,
        carried=None if waits.carried_ms == -1 else timestamp(waits.carried_ms),
    )


def _waits(message: PoolEvidence.Waits) -> Waits:
    carried_ms = unix_ms(message.carried) if message.HasField("carried") else -1
    return Waits(message.evidence_s, message.mean_s, message.own_s, carried_ms)


def _second(message: PoolEvidence.Second) -> Second:
    return Second(
        cores=message.cores,
        full=message.full,
        saturated=message.saturated,
        concurrency=message.concurrency,
        completions=message.completions,
        seconds=message.seconds,
    )


def _parsed(key: PoolKey, message: Parsed, value: bytes) -> Parsed:
    message.ParseFromString(value)
    if message.pool != _pool(key):
        named = " ".join(str(message.pool).split())
        raise IllegalStateError(f"the message is of another pool: {named or 'none'}")
    return message


def _pool(key: PoolKey) -> pool_pb2.Pool:
    return pool_pb2.Pool(service=key.service, side=_SIDES[key.side], peer=key.peer)
