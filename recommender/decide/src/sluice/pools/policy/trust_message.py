"""Converts the guard's `Trust` (`trust.py`) to and from its message, `Trust` of proto/sluice/pools/v1/state.proto."""

from __future__ import annotations

from sluice.model.times import timestamp
from sluice.pools.policy.message_time import unix_ms
from sluice.pools.policy.trust import OperatorLook, RefusedSize, SizeRecord, Trust
from sluice.pools.v1.state_pb2 import Trust as Message


def trust_message(of: Trust) -> Message:
    message = Message(
        operator_size=of.operator,
        since=timestamp(of.since_ms),
        demand_per_s=of.demand_per_s,
        demand_until=timestamp(of.demand_until_ms),
        given_up_until=timestamp(of.given_up_ms),
        given_up_times=of.times,
    )
    for record in of.measured:
        message.measured.add(
            size=record.size,
            per_s=record.per_s,
            stay_s=record.stay_s,
            failed=record.failed,
            cores=record.cores,
            lag_ms=record.lag_ms,
        )
    for one in of.refused:
        message.refused.add(size=one.size, from_size=one.from_size, until=timestamp(one.until_ms), times=one.times)
    if of.check is not None:
        message.checked.CopyFrom(timestamp(of.check.at_ms))
        message.checked_per_s = of.check.per_s
    return message


def trust_of(message: Message) -> Trust:
    return Trust(
        operator=message.operator_size if message.HasField("operator_size") else None,
        since_ms=unix_ms(message.since),
        measured=tuple(
            SizeRecord(record.size, record.per_s, record.stay_s, record.failed, record.cores, record.lag_ms)
            for record in message.measured
        ),
        refused=tuple(
            RefusedSize(refusal.size, refusal.from_size, unix_ms(refusal.until), refusal.times)
            for refusal in message.refused
        ),
        check=OperatorLook(unix_ms(message.checked), message.checked_per_s) if message.HasField("checked") else None,
        demand_per_s=message.demand_per_s,
        demand_until_ms=unix_ms(message.demand_until),
        given_up_ms=unix_ms(message.given_up_until),
        times=message.given_up_times,
    )
