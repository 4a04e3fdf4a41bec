"""Small Jaeger traces for tests."""

import gzip
import json
from pathlib import Path
from typing import Any


def jaeger_span(number: int, start_us: int, duration_us: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    """Span id = number; of process p1; references the span `parent` of the same trace."""
    span: dict[str, Any] = {
        "spanID": f"{number:x}",
        "operationName": f"op{number}",
        "startTime": start_us,
        "duration": duration_us,
        "references": [] if parent is None else [{"refType": "CHILD_OF", "spanID": f"{parent:x}"}],
        "tags": [],
        "processID": "p1",
    }
    return span | more


def jaeger_trace(number: int, *spans: dict[str, Any]) -> dict[str, Any]:
    """Trace id = number; without spans, one of 1 ms at second `number`."""
    trace_id = f"{number:x}"
    all_spans = spans or (jaeger_span(1, number * 1_000_000, 1000),)
    return {
        "traceID": trace_id,
        "spans": [{"traceID": trace_id} | span for span in all_spans],
        "processes": {"p1": {"serviceName": "shop", "tags": []}},
    }


def write_lines(path: Path, *records: Any, packed: bool = False) -> Path:
    """Writes a record a line: strings as they are, everything else as JSON."""
    lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records).encode()
    path.write_bytes(gzip.compress(lines) if packed else lines)
    return path
