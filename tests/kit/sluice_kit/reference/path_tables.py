"""The tables of the job `critical_paths` in plain Python, from the walk of path_reference and not from the Java code.

A trace is a list of spans as path_reference has them, each with "service" and "operation" besides.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sluice_kit.reference.path_waits import Waits, waits
from sluice_kit.reference.path_walk import SpanDict, critical_paths
from testbed.windows import latency_index

WINDOW_S = 10
SECOND = 1_000_000_000

#: root service, root operation, complete, signature or service, window (epoch seconds)
Key = tuple[str, str, bool, str, int]


@dataclass
class Tables:
    """Rows by key, with the names of the columns; `causes`: (cause, service) to [traces, spans]."""

    critical_paths: dict[Key, dict[str, Any]] = field(default_factory=dict)
    path_services: dict[Key, dict[str, Any]] = field(default_factory=dict)
    causes: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


def tables(traces: list[tuple[str, list[SpanDict]]], late: set[int] = frozenset()) -> Tables:  # type: ignore[assignment]
    """Of closed traces with their ids; `late`: positions of those whose id was closed before. All fell quiet."""
    out = Tables()
    ways: dict[Key, list[tuple[int, str]]] = defaultdict(list)
    services: dict[Key, list[tuple[int, int, int, Waits]]] = defaultdict(list)
    for position, (trace_id, spans) in enumerate(traces):
        by_id = {span["span_id"]: span for span in spans}
        paths = critical_paths(spans)
        _account(out.causes, by_id, paths, late=position in late)
        for root_id, sections in paths.sections.items():
            root = by_id[root_id]
            window = root["end_ns"] // SECOND // WINDOW_S * WINDOW_S
            head = (root["service"], root["operation"], root_id not in paths.incomplete)
            duration = root["end_ns"] - root["start_ns"]
            times = service_times(by_id, root_id, sections)
            ways[*head, " > ".join(times), window].append((duration, trace_id))
            waited = waits(paths, root_id, {name: span["service"] for name, span in by_id.items()})
            for service, (own, upstream) in times.items():
                services[*head, service, window].append((own, upstream, duration, waited[service]))
    out.critical_paths = {key: _way(parts) for key, parts in ways.items()}
    out.path_services = {key: _service(parts) for key, parts in services.items()}
    return out


def service_times(
    by_id: dict[str, SpanDict], root: str, sections: list[tuple[str, int, int]]
) -> dict[str, tuple[int, int]]:
    """Own and upstream time, ns, of the services on a path, in the order in which the request reaches them.

    A span is on the path if it, or a span below it, has a section there; it is reached when the first of these starts.
    """
    above: dict[str, list[str]] = {root: []}
    reached: dict[str, int] = {}
    own: Counter[str] = Counter({by_id[root]["service"]: 0})
    for name, start, end in sections:
        own[by_id[name]["service"]] += end - start
        line = [name]
        while line[-1] != root:
            line.append(by_id[line[-1]]["parent_id"])
        for depth, span_id in enumerate(line):
            above[span_id] = line[depth + 1 :]
            reached.setdefault(span_id, start)
    out: dict[str, tuple[int, int]] = {}
    for name in sorted(above, key=lambda span_id: (reached.get(span_id, 0), len(above[span_id]))):
        service = by_id[name]["service"]
        callers = {by_id[caller]["service"] for caller in above[name]}
        upstream = 0 if service in callers else sum(own[caller] for caller in callers)
        out[service] = (own[service], max(upstream, out.get(service, (0, 0))[1]))
    return out


def histogram(times_ns: list[int]) -> dict[int, int]:
    return dict(Counter(map(latency_index, times_ns)))


def _way(traces: list[tuple[int, str]]) -> dict[str, Any]:
    times = sorted(ns for ns, _ in traces)
    median = latency_index(times[(len(times) - 1) // 2])
    slowest_ns, slowest = max(traces)
    return {
        "traces": len(traces),
        "sum_ns": sum(times),
        "sum_ns2": sum(ns * ns for ns in times),
        "latency": histogram(times),
        "slowest_ns": slowest_ns,
        "slowest_trace_id": slowest,
        "median_trace_id": min(trace_id for ns, trace_id in traces if latency_index(ns) == median),
        "version": len(traces),
    }


def _service(parts: list[tuple[int, int, int, Waits]]) -> dict[str, Any]:
    return {
        "traces": len(parts),
        "self_sum": sum(own for own, _, _, _ in parts),
        "self_sum2": sum(own * own for own, _, _, _ in parts),
        "e2e_sum": sum(whole for _, _, whole, _ in parts),
        "e2e_sum2": sum(whole * whole for _, _, whole, _ in parts),
        "self_x_e2e": sum(own * whole for own, _, whole, _ in parts),
        "upstream_sum": sum(upstream for _, upstream, _, _ in parts),
        "upstream_sum2": sum(upstream * upstream for _, upstream, _, _ in parts),
        "call_upstream_sum": sum(part.call_upstream for *_, part in parts),
        "wait_sum": sum(part.wait for *_, part in parts),
        "blame_sum": sum(part.blame for *_, part in parts),
        "blame_sum2": sum(part.blame**2 for *_, part in parts),
        "blame_x_e2e": sum(part.blame * whole for _, _, whole, part in parts),
        "self_latency": histogram([own for own, _, _, _ in parts]),
        "upstream_latency": histogram([upstream for _, upstream, _, _ in parts]),
        "call_upstream_latency": histogram([part.call_upstream for *_, part in parts]),
        "blame_latency": histogram([part.blame for *_, part in parts]),
        "version": len(parts),
    }


def _account(causes: dict[tuple[str, str], list[int]], by_id: dict[str, SpanDict], paths: Any, *, late: bool) -> None:
    roots = sorted(paths.sections, key=lambda name: (name in paths.incomplete, by_id[name]["start_ns"], name))
    first = roots[0] if roots else min(by_id, key=lambda name: (by_id[name]["start_ns"], name))
    service = by_id[first]["service"]
    counts = {"closed_quiet": len(by_id)}
    counts |= {"late": len(by_id)} if late else {}
    counts |= {"incomplete": len(by_id)} if paths.incomplete else {}
    counts |= {} if roots else {"empty": len(by_id)}
    for cause, spans in (counts | {c: n for c, n in paths.excluded.items() if n}).items():
        causes[cause, service][0] += 1
        causes[cause, service][1] += spans
