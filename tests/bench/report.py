"""`./sluice report` on one core: seconds for a million spans in a gzipped file, from the launcher to its end.

The traces are made hotels (eleven spans a trace, 20 ms apart, with ids and times of their own) in four formats.
The first run compiles the loops; it is measured apart, on a small file.
"""

import gzip
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from sluice.cli.traces.replay.formats import convert
from sluice_kit.traffic import hotel

SLUICE = str(Path(__file__).resolve().parents[2] / "sluice")
SPANS = 1_000_000
BAR_S = 20.0
_MADE_AT_ONCE = 1_000
_MS_APART = 20


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    spans = SPANS // 20 if quick else SPANS
    rows = []
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        small = _write(Path(folder) / "small.gz", _jaeger, 1_000)
        with tempfile.TemporaryDirectory(prefix="numba-", dir=folder) as cache:
            rows.append(("a small file, loops not compiled yet", _figure(small, {"NUMBA_CACHE_DIR": cache})))
        rows.append(("a small file", _figure(small, {})))
        for name, lines in FORMATS.items():
            path = _write(Path(folder) / "spans.gz", lines, spans)
            bar = f" (bar {BAR_S:.0f} s)" if not quick else ""
            rows.append(
                (f"{spans:,} spans, {name}, {path.stat().st_size / 1e6:.0f} MB gzipped{bar}", _figure(path, {}))
            )
    return rows


def _figure(path: Path, environment: dict[str, str]) -> str:
    """Wall and CPU of the command on one core, and its memory."""
    core = min(os.sched_getaffinity(0))
    begin_s, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [SLUICE, "report", str(path), "-o", "html", "--output-file", str(path.with_suffix(".html"))]
    process = subprocess.Popen(
        words, env=os.environ | environment, preexec_fn=lambda: os.sched_setaffinity(0, {core}), stderr=subprocess.PIPE
    )
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    wall_s, after = time.monotonic() - begin_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall_s:.1f} s, {cpu_s:.1f} s of CPU, at most {after.ru_maxrss / 1024:,.0f} MiB so far"


def _write(path: Path, lines: Callable[[dict[str, Any]], bytes], spans: int) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for trace in _traces(spans // hotel.SPANS_PER_TRACE):
            file.write(lines(trace))
    return path


def _traces(count: int) -> Iterator[dict[str, Any]]:
    start_us = 1_655_760_000_000_000
    for first in range(0, count, _MADE_AT_ONCE):
        at_us = start_us + first * _MS_APART * 1_000
        yield from hotel.traces(min(_MADE_AT_ONCE, count - first), seed=first, start_us=at_us)


def _jaeger(trace: dict[str, Any]) -> bytes:
    return json.dumps(trace).encode() + b"\n"


def _protobuf(trace: dict[str, Any]) -> bytes:
    data = _message(trace).SerializeToString()
    return len(data).to_bytes(4) + data


def _otlp(trace: dict[str, Any]) -> bytes:
    record = MessageToDict(_message(trace))
    spans = _message(trace).resource_spans
    for resource_json, resource_spans in zip(record["resourceSpans"], spans, strict=True):
        found = zip(resource_json["scopeSpans"][0]["spans"], resource_spans.scope_spans[0].spans, strict=True)
        for span_json, span in found:
            # OTLP/JSON has ids in hexadecimal, protobuf's own mapping in base64.
            span_json |= {"traceId": span.trace_id.hex(), "spanId": span.span_id.hex()}
            if span.parent_span_id:
                span_json["parentSpanId"] = span.parent_span_id.hex()
    return json.dumps(record).encode() + b"\n"


def _zipkin(trace: dict[str, Any]) -> bytes:
    """A list of the trace's spans a line."""
    service_of = {name: process["serviceName"] for name, process in trace["processes"].items()}
    return json.dumps([_zipkin_span(span, service_of[span["processID"]]) for span in trace["spans"]]).encode() + b"\n"


def _zipkin_span(span: dict[str, Any], service: str) -> dict[str, Any]:
    tags = {tag["key"]: str(tag["value"]) for tag in span["tags"]}
    kind, peer = tags.pop("span.kind", "internal").upper(), tags.pop("peer.service", "")
    parent = [reference["spanID"] for reference in span["references"]]
    return {
        "traceId": span["traceID"],
        "id": span["spanID"],
        **({"parentId": parent[0]} if parent else {}),
        "name": span["operationName"],
        **({"kind": kind} if kind != "INTERNAL" else {}),
        "timestamp": span["startTime"],
        "duration": span["duration"],
        "localEndpoint": {"serviceName": service, "ipv4": "10.0.0.1"},
        **({"remoteEndpoint": {"serviceName": peer}} if peer else {}),
        "tags": tags,
    }


def _message(trace: dict[str, Any]) -> TracesData:
    return TracesData(resource_spans=[spans for part in convert(trace) for spans in part.resource_spans])


def _jaeger_urls(trace: dict[str, Any]) -> bytes:
    for span in trace["spans"]:
        path = f"/items/{span['spanID']}"
        span["tags"] += [
            {"key": "http.url", "type": "string", "value": f"http://shop:8080{path}"},
            {"key": "http.target", "type": "string", "value": path},
        ]
    return _jaeger(trace)


FORMATS = {
    "Jaeger JSON": _jaeger,
    "Jaeger JSON, each span with a URL of its own": _jaeger_urls,
    "OTLP JSON": _otlp,
    "OTLP protobuf": _protobuf,
    "Zipkin JSON": _zipkin,
}
