"""`ingest_counts`: what became of every span, per job, service and 10 s of record time."""

from collections.abc import Iterable
from dataclasses import dataclass

from support.reference.spans import ACCEPTED, MS, Record, Span, judge, spans_of
from support.reference.traces import Trace
from support.reference.windows import is_cut

WINDOW_S = 10

#: job, outcome, service, start of the window in s
Key = tuple[str, str, str, int]


@dataclass
class Count:
    """`emit_lag_ms`: sum over accepted spans of (record time - end of the span)."""

    messages: int = 0
    spans: int = 0
    emit_lag_ms: int = 0


def counts(records: Iterable[Record], traces: Iterable[Trace]) -> dict[Key, Count]:
    """The rows of the jobs `concurrency` and `call_graph`."""
    table: dict[Key, Count] = {}

    def at(job: str, outcome: str, service: str, received_ms: int) -> Count:
        return table.setdefault((job, outcome, service, received_ms // 1000 // WINDOW_S * WINDOW_S), Count())

    def count(job: str, outcome: str, span: Span, by: int = 1) -> None:
        row = at(job, outcome, span.service, span.received_ms)
        row.spans += by
        if outcome.startswith(ACCEPTED):
            row.emit_lag_ms += by * (span.received_ms - span.end_ns // MS)

    for record in records:
        spans = spans_of(record)
        if spans is None:
            for job in ("concurrency", "call_graph"):
                at(job, "malformed_message", "", record.received_ms).messages += 1
        for span in spans or []:
            outcome = judge(span)
            count("concurrency", "accepted_cut" if outcome == ACCEPTED and is_cut(span) else outcome, span)
            count("call_graph", outcome, span)
    for trace in traces:
        for outcome, left_out in (("duplicate_span", trace.duplicates), ("trace_too_large", trace.excess)):
            for span in left_out:
                count("call_graph", ACCEPTED, span, by=-1)
                count("call_graph", outcome, span)
    return table
