"""Spans for tests of `sluice report`: from OTLP messages, and from a few words."""

from collections.abc import Iterable
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from sluice.cli.traces.report.analysis.traces import Traces, traces_of
from sluice.cli.traces.report.analysis.usable import usable
from sluice.cli.traces.report.facts.rules import Rules, read_rules
from sluice.cli.traces.report.reading.columns import Columns
from sluice.cli.traces.report.reading.memory import Memory
from sluice.cli.traces.report.reading.protobuf import add_resource_spans
from sluice_kit.traffic.messages import SentSpan, message

RULES = Path(__file__).parents[4] / "streaming-jobs/spans.toml"
MS = 1_000_000
BASE_NS = 1_700_000_000 * 1_000 * MS


def traces_from(messages: Iterable[bytes], rules: Rules | None = None) -> Traces:
    """What the report computes of OTLP messages; by default with the streaming jobs' rules."""
    columns = Columns()
    memory = Memory(columns, read_rules(RULES) if rules is None else rules)
    for data in messages:
        add_resource_spans(memory, TracesData.FromString(data).resource_spans)
    return traces_of(usable(columns.spans())[0])


def traces_of_spans(*spans: SentSpan) -> Traces:
    return traces_from([message(spans)])


def sent(number: int, kind: str, start_ms: float, end_ms: float, parent: int = 0, **more: object) -> SentSpan:
    """Span id = number; of trace 1, service `shop` and instance `shop-0`, times in ms after BASE_NS."""
    fields: dict[str, object] = {
        "service": "shop",
        "instance": "shop-0",
        "trace_id": (1).to_bytes(16),
        "span_id": number.to_bytes(8),
        "parent_id": parent.to_bytes(8) if parent else b"",
        "kind": kind,
        "start_ns": BASE_NS + round(start_ms * MS),
        "end_ns": BASE_NS + round(end_ms * MS),
    }
    return SentSpan(**(fields | more))  # type: ignore[arg-type]
