"""Who waits for threads on a critical path count for, in plain Python, from the rules and not from the Java code."""

from dataclasses import dataclass
from itertools import accumulate

from sluice_kit.reference.path_walk import Paths


@dataclass
class Waits:
    """Of one service on a path, in ns: see `ServiceTime` of the Java code."""

    call_upstream: int = 0
    wait: int = 0
    blame: int = 0
    residence: int = 0
    """Time on the path, each wait counted for the service that owns the threads."""


def waits(paths: Paths, root: str, service: dict[str, str]) -> dict[str, Waits]:
    """By service, in the order in which they are reached. `service`: of each span of the trace, by its id."""
    ways = paths.ways[root]
    out = {service[way[-1]]: Waits() for way in ways}
    own = {way[-1]: 0 for way in ways}
    for span_id, start, end in paths.sections[root]:
        own[span_id] += end - start
    behind = dict.fromkeys(own, 0)
    for *above, span_id in ways:
        wait = paths.waits.get(span_id, 0)
        out[service[span_id]].wait += wait
        out[service[span_id]].residence += own[span_id] + wait
        if wait:
            out[service[above[-1]]].residence -= wait
            behind[above[-1]] += wait
    for *above, span_id in ways:
        callers = {service[above_id] for above_id in above}
        if service[span_id] in callers:
            continue
        total = out[service[span_id]]
        total.call_upstream = max(total.call_upstream, sum(out[caller].residence for caller in callers))
    own = {span_id: ns - behind[span_id] for span_id, ns in own.items()}
    for name, ns in _blame(paths, ways, own, service).items():
        out[name].blame = ns
    return out


def _blame(paths: Paths, ways: list[tuple[str, ...]], own: dict[str, int], service: dict[str, str]) -> dict[str, int]:
    """A wait is divided over what the SERVER span behind it waited for, in proportion; in doubles, then cut.

    `own`: time of each span on the path, without the waits behind its calls.
    """
    parts = {service[way[-1]]: 0.0 for way in ways}
    for *above, span_id in ways:
        factor = 1.0
        for caller in above:
            factor *= _stretch(paths, caller)
        ns = own[span_id] if paths.lengths[span_id] else paths.waits.get(span_id, 0)
        parts[service[span_id]] += ns * (factor * _stretch(paths, span_id))
    length = paths.lengths[ways[0][-1]]
    ends = [min(length, int(total)) for total in accumulate(parts.values())]
    ends[-1] = length
    return {name: end - start for name, start, end in zip(parts, [0, *ends], ends, strict=False)}


def _stretch(paths: Paths, span_id: str) -> float:
    length = paths.lengths[span_id]
    return (length + paths.waits.get(span_id, 0)) / length if length else 1.0
