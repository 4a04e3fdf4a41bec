"""`critical_paths`, `path_services` and `trace_counts`: what requests waited for, per 10 s of their roots' ends."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from contract.make_latency_index import exact_index
from sluice_kit.reference.path_waits import Waits, waits
from sluice_kit.reference.path_walk import Paths, critical_paths
from sluice_kit.reference.spans import MS, Span
from sluice_kit.reference.traces import Trace

WINDOW_NS = 10_000 * MS
COUNT_WINDOW_MS = 10_000

#: root service, root operation, complete, signature or service, start of the window in s
Key = tuple[str, str, bool, str, int]


@dataclass
class PathRow:
    """Sums over paths of their end to end time, and traces that stand for them."""

    traces: int = 0
    sum_ns: int = 0
    sum_ns2: int = 0
    latency: Counter[int] = field(default_factory=Counter)
    slowest_ns: int = 0
    slowest_trace_id: str = ""
    median_trace_id: str = ""


@dataclass
class ServiceRow:
    """Sums over paths of a service's processing time on them, of the one above it, and of the end to end time; and
    the same with waits for threads counted for others than the caller."""

    traces: int = 0
    self_sum: int = 0
    self_sum2: int = 0
    e2e_sum: int = 0
    e2e_sum2: int = 0
    self_x_e2e: int = 0
    upstream_sum: int = 0
    upstream_sum2: int = 0
    call_upstream_sum: int = 0
    wait_sum: int = 0
    blame_sum: int = 0
    blame_sum2: int = 0
    blame_x_e2e: int = 0
    self_latency: Counter[int] = field(default_factory=Counter)
    upstream_latency: Counter[int] = field(default_factory=Counter)
    call_upstream_latency: Counter[int] = field(default_factory=Counter)
    blame_latency: Counter[int] = field(default_factory=Counter)


@dataclass
class CauseRow:
    traces: int = 0
    spans: int = 0


@dataclass(frozen=True)
class Path:
    """One path: `services` on it in the order in which they are reached, with (processing, upstream) time in ns,
    and the `waits` for their threads."""

    trace_id: str
    root: Span
    complete: bool
    services: dict[str, tuple[int, int]]
    waits: dict[str, Waits]

    @property
    def window_s(self) -> int:
        return self.root.end_ns // WINDOW_NS * 10


def path_rows(traces: Iterable[Trace]) -> dict[Key, PathRow]:
    table: dict[Key, PathRow] = {}
    members: dict[Key, list[tuple[int, str]]] = {}
    for path in _paths(traces):
        signature = " > ".join(path.services)
        assert len(signature.encode()) <= 1_000, "signatures that are cut are not part of the reference"
        key = (path.root.service, path.root.operation, path.complete, signature, path.window_s)
        row = table.setdefault(key, PathRow())
        row.traces += 1
        row.sum_ns += path.root.duration_ns
        row.sum_ns2 += path.root.duration_ns**2
        row.latency[exact_index(path.root.duration_ns)] += 1
        members.setdefault(key, []).append((path.root.duration_ns, path.trace_id))
    for key, row in table.items():
        row.slowest_ns, row.slowest_trace_id = max(members[key])
        indexes = sorted((exact_index(ns), trace_id) for ns, trace_id in members[key])
        median = indexes[(len(indexes) - 1) // 2][0]
        row.median_trace_id = next(trace_id for index, trace_id in indexes if index == median)
    return table


def service_rows(traces: Iterable[Trace]) -> dict[Key, ServiceRow]:
    table: dict[Key, ServiceRow] = {}
    for path in _paths(traces):
        e2e = path.root.duration_ns
        for service, (own, upstream) in path.services.items():
            key = (path.root.service, path.root.operation, path.complete, service, path.window_s)
            row = table.setdefault(key, ServiceRow())
            row.traces += 1
            row.self_sum += own
            row.self_sum2 += own**2
            row.e2e_sum += e2e
            row.e2e_sum2 += e2e**2
            row.self_x_e2e += own * e2e
            row.upstream_sum += upstream
            row.upstream_sum2 += upstream**2
            row.self_latency[exact_index(own)] += 1
            row.upstream_latency[exact_index(upstream)] += 1
            waited = path.waits[service]
            row.call_upstream_sum += waited.call_upstream
            row.wait_sum += waited.wait
            row.blame_sum += waited.blame
            row.blame_sum2 += waited.blame**2
            row.blame_x_e2e += waited.blame * e2e
            row.call_upstream_latency[exact_index(waited.call_upstream)] += 1
            row.blame_latency[exact_index(waited.blame)] += 1
    return table


def cause_rows(traces: Iterable[Trace], late_ms: int) -> dict[tuple[str, str, int], CauseRow]:
    """By cause, service of the root (else of the first span), and start in s of the 10 s of the first record time."""
    table: dict[tuple[str, str, int], CauseRow] = {}
    closed_ms: dict[bytes, int] = {}
    for trace in traces:
        paths = _walked(trace)
        complete = [root for root in _in_order(trace, paths) if root not in paths.incomplete]
        roots = complete or _in_order(trace, paths)
        first = min(trace.spans.values(), key=lambda span: (span.start_ns, span.span_id))
        service = _span(trace, roots[0]).service if roots else first.service
        spans = len(trace.spans)
        causes = {"closed_max_age" if trace.at_max_age else "closed_quiet": spans}
        if trace.first_ms < closed_ms.get(trace.trace_id, -late_ms) + late_ms:
            causes["late"] = spans
        if paths.incomplete:
            causes["incomplete"] = spans
        if not roots:
            causes["empty"] = spans
        causes |= {cause: count for cause, count in paths.excluded.items() if count}
        closed_ms[trace.trace_id] = max(trace.due_ms, closed_ms.get(trace.trace_id, 0))
        for cause, count in causes.items():
            window_s = trace.first_ms // COUNT_WINDOW_MS * COUNT_WINDOW_MS // 1000
            row = table.setdefault((cause, service, window_s), CauseRow())
            row.traces += 1
            row.spans += count
    return table


def _paths(traces: Iterable[Trace]) -> Iterator[Path]:
    for trace in traces:
        paths = _walked(trace)
        for root in paths.sections:
            yield Path(
                trace.trace_id.hex(),
                _span(trace, root),
                root not in paths.incomplete,
                _services(trace, paths, root),
                waits(paths, root, {span_id.hex(): span.service for span_id, span in trace.spans.items()}),
            )


def _walked(trace: Trace) -> Paths:
    names = ("kind", "linked", "host", "start_ns", "end_ns")
    return critical_paths(
        [
            {"span_id": span.span_id.hex(), "parent_id": span.parent_id.hex()}
            | {name: getattr(span, name) for name in names}
            for span in trace.spans.values()
        ]
    )


def _span(trace: Trace, span_id: str) -> Span:
    return trace.spans[bytes.fromhex(span_id)]


def _in_order(trace: Trace, paths: Paths) -> list[str]:
    """The roots by start, then by id."""
    return sorted(paths.sections, key=lambda root: (_span(trace, root).start_ns, root))


def _services(trace: Trace, paths: Paths, root: str) -> dict[str, tuple[int, int]]:
    """Upstream of a service are those on the way to it, each once; of several ways to it the longest counts."""
    service = {span_id.hex(): span.service for span_id, span in trace.spans.items()}
    own: Counter[str] = Counter()
    for span_id, start_ns, end_ns in paths.sections[root]:
        own[service[span_id]] += end_ns - start_ns
    upstream: dict[str, int] = {}
    for *above, last in paths.ways[root]:
        name = service[last]
        names_above = {service[span_id] for span_id in above}
        upstream.setdefault(name, 0)
        if name not in names_above:
            upstream[name] = max(upstream[name], sum(own[above_name] for above_name in names_above))
    return {name: (own[name], above_ns) for name, above_ns in upstream.items()}
