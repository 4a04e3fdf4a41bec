"""Values of a PoolSize as people read them."""

from datetime import UTC, datetime
from typing import Literal

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.advice_pb2 import Advice
from sluice.pools.v1.pool_size_pb2 import Basis, PoolSize, State

# What State and Basis say, behind their short names.
STATES = {
    "PROVIDED": "which size is best is known within 2 %",
    "LEARNING": "a better size is likely, or too little is known",
    "NO_DATA": "nothing completed for 30 s",
    "STALE": "the newest answer is older than its lease",
    "PAUSED": "an operator paused the pool",
    "GUARDED": "the constraints hold the pool off a better size",
    "UNSATURATED": "never full on this CPU limit, no size is needed yet",
    "DELETED": "it was taken out of the configuration",
}
BASES = {
    "CURVE": "what was seen on this CPU limit",
    "PROBE": "not known to be better, but worth a look",
    "REVERT": "back to the size before the last change",
    "MEMORY": "what was seen of this version before it was away",
    "CARRIED": "what was seen on another CPU limit",
    "LEARNED": "what was learnt from other pools, or by an agent",
    "HELD": "no better size is known, or nothing may change",
    "OPERATOR": "an operator's word",
}

# What an Advice says of the hardware.
ADVICE = {
    "SCALE_OUT": "no size does what is asked in time on this hardware",
    "SCALE_IN": "half of it would do all that is asked",
    "KEEP": "neither more nor half of it is known to be better",
}

OptionalSize = Literal["current", "target", "lower_bound", "upper_bound", "unguarded_target"]


def short_name(enum: EnumDescriptor, value: int) -> str | int:
    """A value of State, Basis or Action without its prefix: STATE_NO_DATA -> NO_DATA.

    STATE_UNSPECIFIED stays as it is, and a number that this program does not know: neither is a name of its own.
    """
    known = enum.values_by_number.get(value)
    if known is None:
        return value
    return known.name if value == 0 else known.name.removeprefix(f"{enum.name.upper()}_")


def advice(size: PoolSize) -> str:
    """`SCALE_OUT: ...; 450 asked a second of an instance, 81% in time, 16 does 364; 7 cores each or 4 replicas would
    do, of 4 cores each and 2 replicas`; `-` where nothing is said."""
    if not size.HasField("advice"):
        return "-"
    of = size.advice
    late = f", {of.in_time:.0%} in time" if of.HasField("in_time") else ""
    parts = [
        _meaning(str(short_name(Advice.Kind.DESCRIPTOR, of.kind)), ADVICE),
        f"{of.asked_per_s:.4g} asked a second of an instance{late}, {of.best} does {of.best_per_s:.4g}",
    ]
    there = _hardware(of.cpu_limit_cores, of.replicas)
    if of.kind != Advice.KIND_KEEP and (would := _hardware(of.advised_cpu_limit_cores, of.advised_replicas)):
        parts.append(f"{' or '.join(would)} would do")
    return "; ".join(parts) + (f", of {' and '.join(there)}" if there else "")


def _hardware(cores: float, replicas: int) -> list[str]:
    """0: not told."""
    found = [f"{cores:g} cores each"] if cores else []
    return [*found, f"{replicas} replicas"] if replicas else found


def state_name(state: int) -> str:
    return str(short_name(State.DESCRIPTOR, state))


def action(size: PoolSize) -> str:
    """`APPLY`, `HOLD`; `-` from a recommender that says nothing."""
    return str(short_name(Action.DESCRIPTOR, size.action)) if size.action else "-"


def basis(size: PoolSize) -> str:
    return str(short_name(Basis.DESCRIPTOR, size.basis)) if size.basis else "-"


def state_meaning(state: int) -> str:
    """`UNSATURATED: never full on this CPU limit, no size is needed yet`."""
    return _meaning(state_name(state), STATES)


def basis_meaning(size: PoolSize) -> str:
    return _meaning(basis(size), BASES)


def _meaning(name: str, words: dict[str, str]) -> str:
    return f"{name}: {words[name]}" if name in words else name


def current(size: PoolSize) -> str:
    """`12`; `12 to 64` where targets differ, `unbounded` where they have no limit."""
    if size.HasField("current") or not size.sizes:
        return optional(size, "current")
    limits = {each.size for each in size.sizes if not each.unbounded}
    ends = [str(end) for end in ([min(limits), max(limits)] if limits else [])][: len(limits)]
    if any(each.unbounded for each in size.sizes):
        ends = [*ends[:1], "unbounded"]
    return " to ".join(ends)


def optional(message: PoolSize, field: OptionalSize) -> str:
    """The number, or `-` where there is none: a missing size is never shown as 0."""
    return str(getattr(message, field)) if message.HasField(field) else "-"


def size_range(size: PoolSize) -> str:
    """`lower to upper`; `-` when neither is known."""
    if not size.HasField("lower_bound") and not size.HasField("upper_bound"):
        return "-"
    return f"{optional(size, 'lower_bound')} to {optional(size, 'upper_bound')}"


def age(size: PoolSize, now: datetime) -> str:
    """Since the answer was computed; says so when its lease is over at `now` (with time zone)."""
    if not size.HasField("computed_at"):
        return "-"
    text = seconds((now - moment(size.computed_at)).total_seconds())
    over = size.HasField("valid_until") and moment(size.valid_until) < now
    return f"{text}, lease over" if over else text


def moment(timestamp: Timestamp) -> datetime:
    return timestamp.ToDatetime(tzinfo=UTC)


def seconds(value: float) -> str:
    """0.25 -> `250 ms`, 12.3 -> `12 s`, 90 -> `1.5 min`, 7200 -> `2.0 h`, 259200 -> `3.0 d`."""
    if abs(value) < 1:
        return f"{value * 1000:.0f} ms"
    if abs(value) < 60:
        return f"{value:.0f} s"
    if abs(value) < 3600:
        return f"{value / 60:.1f} min"
    if abs(value) < 86400:
        return f"{value / 3600:.1f} h"
    return f"{value / 86400:.1f} d"


def reasons(size: PoolSize) -> str:
    return "; ".join(reason.text or reason.code for reason in size.reasons)
