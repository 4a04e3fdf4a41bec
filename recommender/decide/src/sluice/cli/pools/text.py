"""Text for the values of a PoolSize."""

import re
from datetime import UTC, datetime
from typing import Literal

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.advice_pb2 import Advice
from sluice.pools.v1.pool_size_pb2 import STATE_STALE, Basis, PoolSize, State

# The meaning of each State and Basis, shown behind its short name.
STATES = {
    "PROVIDED": "the best size is known within 2 %",
    "LEARNING": "a better size is likely, or too little is known",
    "NO_DATA": "nothing completed for 30 s",
    "STALE": "the newest decision is older than its lease",
    "PAUSED": "an operator paused the pool",
    "GUARDED": "the constraints rule out a better size",
    "UNSATURATED": "never full on this CPU limit, no larger size is needed",
    "DELETED": "removed from the configuration",
}
BASES = {
    "CURVE": "evidence on this CPU limit",
    "PROBE": "not known to be better, but worth a look",
    "REVERT": "back to the size before the last change",
    "MEMORY": "evidence of this version from before it was away",
    "CARRIED": "evidence on another CPU limit",
    "HELD": "no better size is known, or nothing may change",
    "OPERATOR": "an operator set it",
}

# The meaning of each kind of Advice.
ADVICE = {
    "SCALE_OUT": "no size completes the demand in time on this hardware",
    "SCALE_IN": "half of the hardware would complete the whole demand",
    "KEEP": "neither more nor half of the hardware is known to be better",
}

OptionalSize = Literal["current", "target", "lower_bound", "upper_bound", "unguarded_target"]


def short_name(enum: EnumDescriptor, value: int) -> str | int:
    """A value of State, Basis or Action without its prefix: STATE_NO_DATA -> NO_DATA.

    STATE_UNSPECIFIED stays as it is, and so does a number without a name in this version.
    """
    known = enum.values_by_number.get(value)
    if known is None:
        return value
    prefix = re.sub("(?<=[a-z])(?=[A-Z])", "_", enum.name).upper()
    return known.name if value == 0 else known.name.removeprefix(f"{prefix}_")


def advice(size: PoolSize) -> str:
    """`SCALE_OUT: ...; demand 450 per second and instance, 81% in time; size 16 completes 364; 7 cores each or 4
    replicas would do, of 4 cores each and 2 replicas`; `-` where there is no advice."""
    if not size.HasField("advice"):
        return "-"
    hint = size.advice
    late = f", {hint.in_time:.0%} in time" if hint.HasField("in_time") else ""
    parts = [
        _meaning(str(short_name(Advice.Kind.DESCRIPTOR, hint.kind)), ADVICE),
        f"demand {hint.asked_per_s:.4g} per second and instance{late}",
        f"size {hint.best} completes {hint.best_per_s:.4g}",
    ]
    there = _hardware(hint.cpu_limit_cores, hint.replicas)
    if hint.kind != Advice.KIND_KEEP and (would := _hardware(hint.advised_cpu_limit_cores, hint.advised_replicas)):
        parts.append(f"{' or '.join(would)} would do")
    return "; ".join(parts) + (f", of {' and '.join(there)}" if there else "")


def _hardware(cores: float, replicas: int) -> list[str]:
    """Text for the known ones; 0: not known."""
    parts = [f"{cores:g} cores each"] if cores else []
    return [*parts, f"{replicas} replicas"] if replicas else parts


def state_name(state: int) -> str:
    return str(short_name(State.DESCRIPTOR, state))


def action(size: PoolSize) -> str:
    """`APPLY` or `HOLD`; `-` where the recommender sends none."""
    return str(short_name(Action.DESCRIPTOR, size.action)) if size.action else "-"


def basis(size: PoolSize) -> str:
    return str(short_name(Basis.DESCRIPTOR, size.basis)) if size.basis else "-"


def state_meaning(state: int) -> str:
    """`UNSATURATED: never full on this CPU limit, no larger size is needed`."""
    return _meaning(state_name(state), STATES)


def basis_meaning(size: PoolSize) -> str:
    return _meaning(basis(size), BASES)


def _meaning(name: str, texts: dict[str, str]) -> str:
    return f"{name}: {texts[name]}" if name in texts else name


def current(size: PoolSize) -> str:
    """`12`; `12 to 64` where targets differ, `unbounded` where they have no limit."""
    if size.HasField("current") or not size.sizes:
        return optional(size, "current")
    limits = {reported.size for reported in size.sizes if not reported.unbounded}
    ends = [str(end) for end in ([min(limits), max(limits)] if limits else [])][: len(limits)]
    if any(reported.unbounded for reported in size.sizes):
        ends = [*ends[:1], "unbounded"]
    return " to ".join(ends)


def optional(message: PoolSize, field: OptionalSize) -> str:
    """The number, or `-` where there is none. A missing size never appears as 0."""
    return str(getattr(message, field)) if message.HasField(field) else "-"


def holds_up(size: PoolSize) -> str:
    """`checkout/POST /orders, 34% of its p95`, and how many more; `nobody`; `-` while it is not known."""
    if not size.HasField("blame"):
        return "-"
    if not size.blame.holds_up:
        return "nobody"
    first, *more = size.blame.holds_up
    text = f"{first.root_service}/{first.root_operation}, {first.share_of_p95:.0%} of its p95"
    return f"{text}, and {len(more)} more" if more else text


def size_range(size: PoolSize) -> str:
    """`lower to upper`; `-` when neither is known."""
    if not size.HasField("lower_bound") and not size.HasField("upper_bound"):
        return "-"
    return f"{optional(size, 'lower_bound')} to {optional(size, 'upper_bound')}"


def age(size: PoolSize, now: datetime) -> str:
    """Time since the decision; adds `lease over` when its lease ended before `now` (with time zone)."""
    if not size.HasField("computed_at"):
        return "-"
    text = seconds((now - moment(size.computed_at)).total_seconds())
    over = size.HasField("valid_until") and moment(size.valid_until) < now
    return f"{text}, lease over" if over else text


def not_written_yet(size: PoolSize, now: datetime) -> str:
    """Why no target gets an operator's size now, by the decision before it; empty where targets get it with the next
    decision. now: with time zone."""
    if not size.sizes or any(reason.code == "NO_ACTUATOR" for reason in size.reasons):
        return "nothing is written yet: no actuator reports the pool; the write follows its first report"
    if size.state == STATE_STALE:
        return f"nothing is written yet: the newest decision is old ({age(size, now)}); the write follows the next one"
    return ""


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
