"""Pools whose newest decision carries an alarm code: its text, and the remedy."""

from collections.abc import Mapping, Sequence

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.pool_spans import PoolSpans, instances_in_spans, pool_spans
from sluice.cli.doctor.recommender import listed
from sluice.cli.environment import Addresses
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of
from sluice.pools.nearest.instances import instances_differ
from sluice.pools.v1.pool_size_pb2 import PoolSize

_SHOWN = 6
_RULES = (
    "in this order: add a rule to streaming-jobs/spans.toml for those of its spans that hold no place in it "
    "(`leave_out`; `waiting` where they wait for one; `around` for a sidecar's); let its target report `busy` "
    "(docs/actuators-targets.md, What is in use), which takes precedence over spans; check that the size that its "
    "actuator reads is this pool's, and that it covers all instances of the pool"
)
_UNSAMPLED = (
    "send Sluice the spans before they are sampled: docs/sampling.md. If the spans are all there, name the service "
    "under `unsampled` in the decider's file"
)
_REMEDIES = {
    "GAVE_UP": "the operator's size is in force again and held. `./sluice pools history` and `explain` show "
    "the evidence; if it recurs, set the pool's `bounds: {min}` to that size, or run its target without --apply",
    "COLLAPSED": "Sluice takes the size back and does not try it again for a while. If it recurs, set the pool's "
    "`bounds`, or let its target report `busy` and `waiting`: streams that have not ended show in no span",
    "ERRORS_RISE": "Sluice takes the size back. Look at the service that the pool calls: it may refuse the requests of "
    "a larger pool (429, 503); `backends` with its `capacity` keeps all pools within that",
    "SPANS_DISAGREE": _RULES,
    "UNACCOUNTED": "connections that are held between queries, and streams that have not ended, are in no span: let "
    "the target report `busy` and `waiting` (docs/actuators-targets.md, What is in use)",
    "INSTANCES_DIFFER": "set `instance` of each target in the actuator's file to the `service.instance.id` of its "
    "spans (without one, to the pod, container or host that they name), then `./sluice reload`",
    "SAMPLED": _UNSAMPLED,
    "TAIL_SAMPLED": _UNSAMPLED,
    "CALLERS": "the targets report that the pool is not full: callers wait for connections of their own; raise their "
    "limits (`maxSockets` of Node's agent, connections per route of an HTTP client)",
}
_CODES = (
    "GAVE_UP",
    "COLLAPSED",
    "ERRORS_RISE",
    "SPANS_DISAGREE",
    "UNACCOUNTED",
    "INSTANCES_DIFFER",
    "SAMPLED",
    "TAIL_SAMPLED",
)


def alarms(where: Addresses, timeout_s: float) -> Diagnosis:
    sizes = listed(where, timeout_s)
    disagree = [key_of(size.pool) for size in sizes if _code(size) == "SPANS_DISAGREE"][:_SHOWN]
    try:
        spans_of = pool_spans(where, timeout_s, disagree) if disagree else {}
        several = [key_of(size.pool) for size in sizes if len(size.sizes) > 1]
        instances = instances_in_spans(where, timeout_s, several)
    except NotAnsweringError:  # the checks of ClickHouse report it
        spans_of, instances = {}, {}
    return judge([_with_instances(size, instances.get(key_of(size.pool), [])) for size in sizes], spans_of)


def _with_instances(size: PoolSize, of_spans: Sequence[str]) -> PoolSize:
    """The decider gives this reason only once sizes differ: it then needs the names. of_spans: instances in spans."""
    reason = instances_differ(of_spans, [target.instance for target in size.sizes])
    if reason is None or _code(size):
        return size
    told = PoolSize()
    told.CopyFrom(size)
    told.reasons.add(code=reason.code, text=reason.text)
    return told


def judge(sizes: Sequence[PoolSize], spans_of: Mapping[PoolKey, PoolSpans]) -> Diagnosis:
    """spans_of: the spans of pools with SPANS_DISAGREE, where the tables could be read."""
    wrong = sorted(
        (size for size in sizes if _code(size)), key=lambda size: (_CODES.index(_code(size)), key_of(size.pool))
    )
    if not wrong:
        return Diagnosis("ok", "no pool has an alarm: none given up, none taken back, none in conflict with its spans")
    parts: list[str] = []
    remedies: dict[str, str] = {}
    for size in wrong[:_SHOWN]:
        key, code = key_of(size.pool), _code(size)
        text = next(reason.text for reason in size.reasons if reason.code == code).removesuffix("; see ./sluice doctor")
        shown = spans_of[key].text(_instances(size)) if key in spans_of else ""
        parts.append(f"{key} {code}: {text}" + (f"; {shown}" if shown else ""))
        remedy = "CALLERS" if code == "UNACCOUNTED" and _idle(size) else code
        remedies.setdefault(remedy, f"{remedy if remedy != 'CALLERS' else code}: {_REMEDIES[remedy]}")
    if len(wrong) > _SHOWN:
        parts.append(f"{len(wrong) - _SHOWN} more pools")
    return Diagnosis("warn", ". ".join(parts), ". ".join(remedies.values()))


def _code(size: PoolSize) -> str:
    return next((reason.code for reason in size.reasons if reason.code in _CODES), "")


def _instances(size: PoolSize) -> Mapping[str, int]:
    """Sizes in force by target. Targets without a limit are left out."""
    return {reported.instance: reported.size for reported in size.sizes if not reported.unbounded}


def _idle(size: PoolSize) -> bool:
    """Whether all targets report occupancy, less than half of each size in use, and nobody waiting."""
    telling = [reported for reported in size.sizes if reported.HasField("occupancy") and not reported.unbounded]
    if not telling or len(telling) < len(size.sizes):
        return False
    busiest = max(reported.occupancy.busy_most / max(1, reported.size) for reported in telling)
    return busiest < 0.5 and not any(reported.occupancy.waiting_most for reported in telling)
