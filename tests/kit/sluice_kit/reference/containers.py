"""`container_latency` and `container_own_time`: how long the requests of each container took, and how much of that was
its own time, per 10 s of their ends."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import floor, log

from contract.make_latency_index import exact_index
from sluice_kit.reference.spans import MS, Span
from sluice_kit.reference.traces import Trace

WINDOW_NS = 10_000 * MS
#: Logarithms are summed as whole numbers of this part: such sums do not depend on their order.
PARTS = 1_000_000_000
#: Own times are at least so long.
LEAST_NS = 1_000

#: service, instance, host, start of the window in s
Key = tuple[str, str, str, int]


@dataclass
class Sample:
    """`ln_sum` and `ln_sum2`: of ln(duration in ns) and of its square, each rounded to 1e-9 before it is added.

    Logarithms of two libraries may differ in the last bit: a request may then be 1 apart in each.
    """

    requests: int = 0
    errors: int = 0
    ln_sum: int = 0
    ln_sum2: int = 0
    latency: Counter[int] = field(default_factory=Counter)


def samples(spans: Iterable[Span]) -> dict[Key, Sample]:
    table: dict[Key, Sample] = {}
    for span in spans:
        if span.kind in ("SERVER", "CONSUMER"):
            _add(table, span, span.duration_ns)
    return table


def own_times(traces: Iterable[Trace]) -> dict[Key, Sample]:
    table: dict[Key, Sample] = {}
    for trace in traces:
        for span in trace.spans.values():
            if span.kind == "SERVER":
                _add(table, span, max(_own_ns(trace, span), LEAST_NS))
    return table


def _add(table: dict[Key, Sample], span: Span, ns: int) -> None:
    row = table.setdefault((span.service, span.instance, span.host, span.end_ns // WINDOW_NS * 10), Sample())
    ln = log(max(ns, 1))
    row.requests += 1
    row.errors += span.error
    row.ln_sum += floor(ln * PARTS + 0.5)
    row.ln_sum2 += floor(ln * ln * PARTS + 0.5)
    row.latency[exact_index(ns)] += 1


def _own_ns(trace: Trace, entry: Span) -> int:
    """Its duration without the union of the calls below it."""
    own, until = entry.duration_ns, entry.start_ns
    for call in sorted(_calls(trace, entry, entry), key=lambda call: call.start_ns):
        start, end = max(call.start_ns, until), min(call.end_ns, entry.end_ns)
        if end > start:
            own, until = own - (end - start), end
    return own


def _calls(trace: Trace, entry: Span, span: Span) -> Iterator[Span]:
    """What is waited for, through spans of its own service that are no calls."""
    for child in trace.children(span):
        if child.kind == "CONSUMER" or child is entry:
            continue
        if child.kind in ("CLIENT", "PRODUCER", "SERVER") or child.service != entry.service:
            yield child
        else:
            yield from _calls(trace, entry, child)
