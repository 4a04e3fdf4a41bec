"""`ingest_counts`: what became of every span, per job, service and 10 s of record time."""

from collections.abc import Iterable
from dataclasses import dataclass

from sluice_kit.reference.settings import setting
from sluice_kit.reference.spans import ACCEPTED, MS, Read, Span, judge
from sluice_kit.reference.traces import Trace
from sluice_kit.reference.windows import is_cut

WINDOW_S = 10
JOBS = ("concurrency", "call_graph", "critical_paths", "container_latency")
#: Those that find out, when a trace is closed, which of its spans do not fit it.
OF_TRACES = ("call_graph", "critical_paths")
#: A span that ends longer than this before its record time is counted apart; None: none is.
LATENESS_MS = setting("lateness-ms")

#: job, outcome, service, start of the window in s
Key = tuple[str, str, str, int]


@dataclass
class Count:
    """`emit_lag_ms`: sum over accepted spans of (record time - end of the span)."""

    messages: int = 0
    spans: int = 0
    emit_lag_ms: int = 0


def window(received_ms: int) -> int:
    """Start of the window of a record time, in s."""
    return received_ms // 1000 // WINDOW_S * WINDOW_S


def counts(job: str, read: Iterable[Read], traces: Iterable[Trace]) -> dict[Key, Count]:
    """The rows of one job."""
    table: dict[Key, Count] = {}

    def at(outcome: str, service: str, received_ms: int) -> Count:
        return table.setdefault((job, outcome, service, window(received_ms)), Count())

    def count(outcome: str, span: Span, by: int = 1) -> None:
        row = at(outcome, span.service, span.received_ms)
        row.spans += by
        if outcome.startswith(ACCEPTED):
            row.emit_lag_ms += by * (span.received_ms - span.end_ns // MS)

    for record in read:
        if record.spans is None:
            at("malformed_message", "", record.received_ms).messages += 1
        for span in record.spans or []:
            if record.repeated:
                count("repeated_message", span)
            elif judge(span) != ACCEPTED:
                count(judge(span), span)
            elif job == "concurrency" and is_cut(span):
                count("accepted_cut", span)
            else:
                count(_accepted(span), span)
    for trace in traces if job in OF_TRACES else []:
        for outcome, left_out in (("duplicate_span", trace.duplicates), ("trace_too_large", trace.excess)):
            for span in left_out:
                count(_accepted(span), span, by=-1)
                count(outcome, span)
    return table


def _accepted(span: Span) -> str:
    if span.end_ns < (span.received_ms - LATENESS_MS) * MS:
        return "accepted_late"
    return ACCEPTED
