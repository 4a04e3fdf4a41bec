"""Pools whose newest answer is an alarm: what it looks like, and how to mend it."""

from collections.abc import Mapping, Sequence

from sluice.cli.doctor.finding import Check, NotAnsweringError, Verdict
from sluice.cli.doctor.pool_spans import PoolSpans, pool_spans
from sluice.cli.doctor.recommender import listed
from sluice.cli.environment import Addresses
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of
from sluice.pools.v1.pool_size_pb2 import PoolSize

_SHOWN = 6
_RULES = (
    "in this order: a rule in streaming-jobs/spans.toml for those of its spans that hold no place in it (`leave_out`; "
    "`waiting` where they wait for one; `around` for a sidecar's); let its target tell `busy` (actuators/README.md, "
    "What is in use), which wins over spans; look whether the size that its actuator reads is this pool's, and of all "
    "its instances"
)
_REMEDIES = {
    "GAVE_UP": "the operator's size is in force again, and held. `./sluice pools history` and `explain` show what was "
    "seen; where it comes again set the pool's `bounds: {min}` to that size, or leave its target without --apply",
    "COLLAPSED": "it is being taken back, and that size is not tried again for a while. Where it comes again set the "
    "pool's `bounds`, or let its target tell `busy` and `waiting`: streams that have not ended show in no span",
    "ERRORS_RISE": "it is being taken back. Look at what the pool calls: it may refuse what a larger pool asks (429, "
    "503); `backends` with its `capacity` keeps all pools within that",
    "SPANS_DISAGREE": _RULES,
    "UNACCOUNTED": "connections that are held between queries, and streams that have not ended, are in no span: let "
    "the target tell `busy` and `waiting` (actuators/README.md, What is in use)",
    "CALLERS": "the targets tell that the pool is not full: callers wait for connections of their own; raise their "
    "limits (`maxSockets` of Node's agent, connections per route of an HTTP client)",
}
_CODES = ("GAVE_UP", "COLLAPSED", "ERRORS_RISE", "SPANS_DISAGREE", "UNACCOUNTED")


def alarms(where: Addresses, timeout_s: float) -> Verdict:
    found = listed(where, timeout_s)
    disagree = [key_of(size.pool) for size in found if _code(size) == "SPANS_DISAGREE"][:_SHOWN]
    try:
        seen = pool_spans(where, timeout_s, disagree) if disagree else {}
    except NotAnsweringError:  # what tables show is told where they can be read
        seen = {}
    return judge(found, seen)


def judge(sizes: Sequence[PoolSize], seen: Mapping[PoolKey, PoolSpans]) -> Verdict:
    """seen: of pools with SPANS_DISAGREE, as far as it could be read."""
    wrong = sorted(
        (each for each in sizes if _code(each)), key=lambda each: (_CODES.index(_code(each)), key_of(each.pool))
    )
    if not wrong:
        return Verdict("ok", "no pool was given up or taken back, and none contradicts its spans")
    parts: list[str] = []
    remedies: dict[str, str] = {}
    for size in wrong[:_SHOWN]:
        key, code = key_of(size.pool), _code(size)
        text = next(reason.text for reason in size.reasons if reason.code == code).removesuffix("; see ./sluice doctor")
        shown = seen[key].words(_instances(size)) if key in seen else ""
        parts.append(f"{key} {code}: {text}" + (f"; {shown}" if shown else ""))
        remedy = "CALLERS" if code == "UNACCOUNTED" and _idle(size) else code
        remedies.setdefault(remedy, f"{remedy if remedy != 'CALLERS' else code}: {_REMEDIES[remedy]}")
    if len(wrong) > _SHOWN:
        parts.append(f"{len(wrong) - _SHOWN} more pools")
    return Verdict("warn", ". ".join(parts), ". ".join(remedies.values()))


def _code(size: PoolSize) -> str:
    return next((reason.code for reason in size.reasons if reason.code in _CODES), "")


def _instances(size: PoolSize) -> Mapping[str, int]:
    """Sizes in force, by target; without those that have no limit."""
    return {each.instance: each.size for each in size.sizes if not each.unbounded}


def _idle(size: PoolSize) -> bool:
    """Its targets tell that less than half of it is in use, and that nobody waits for it there."""
    telling = [each for each in size.sizes if each.HasField("occupancy") and not each.unbounded]
    if not telling or len(telling) < len(size.sizes):
        return False
    busiest = max(each.occupancy.busy_most / max(1, each.size) for each in telling)
    return busiest < 0.5 and not any(each.occupancy.waiting_most for each in telling)


CHECKS = [Check("recommender", "alarms of pools", alarms)]
