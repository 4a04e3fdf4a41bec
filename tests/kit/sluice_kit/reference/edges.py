"""`call_edges` and `container_calls`: calls between services, and between containers, per 10 s of the end of the span
that measures the call (`shown_ns`)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from contract.make_latency_index import exact_index
from sluice_kit.reference.spans import MS, Span
from sluice_kit.reference.traces import Trace

WINDOW_NS = 10_000 * MS

#: caller, callee, start of the window in s
Key = tuple[str, str, int]


@dataclass
class Edge:
    calls: int = 0
    errors: int = 0
    latency: Counter[int] = field(default_factory=Counter)


def edges(traces: Iterable[Trace]) -> dict[Key, Edge]:
    table: dict[Key, Edge] = {}

    def call(caller: str, callee: str, measured: Span) -> None:
        edge = table.setdefault((caller, callee, measured.shown_ns // WINDOW_NS * 10), Edge())
        edge.calls += 1
        edge.errors += measured.error
        edge.latency[exact_index(measured.duration_ns)] += 1

    for trace in traces:
        shown = set()  # spans whose callee is in the trace
        for span in trace.spans.values():
            parent = trace.parent(span)
            if parent is None:
                continue
            if span.service != parent.service:
                call(parent.service, span.service, span)
            if span.service != parent.service or span.kind in ("SERVER", "CONSUMER"):
                shown.add(parent.span_id)
        for span in trace.spans.values():
            if span.kind in ("CLIENT", "PRODUCER") and span.named_peer and span.span_id not in shown:
                call(span.service, span.named_peer, span)
    return table


#: caller and its instance, callee and its instance, start of the window in s
ContainerKey = tuple[str, str, str, str, int]


@dataclass
class Calls:
    calls: int = 0


def container_calls(traces: Iterable[Trace]) -> dict[ContainerKey, Calls]:
    """Without messages, and calls that lack an instance."""
    table: dict[ContainerKey, Calls] = {}
    for trace in traces:
        for span in trace.spans.values():
            parent = trace.parent(span)
            if parent is None or parent.service == span.service or span.kind == "CONSUMER":
                continue
            if parent.instance and span.instance:
                window_s = span.shown_ns // WINDOW_NS * 10
                key = parent.service, parent.instance, span.service, span.instance, window_s
                table.setdefault(key, Calls()).calls += 1
    return table
