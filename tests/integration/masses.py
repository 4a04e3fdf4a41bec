"""Masses: of spans in one trace, and of services in one message."""

import random
import time

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from integration import random_traces
from support.messages import PARTITIONS, SentSpan, message, produce
from support.reference.settings import setting
from support.stack import Stack
from support.topics import end_offsets
from support.truth import TABLES, Reference, check_all, records_since
from support.waiting import eventually
from support.wire import field

SECOND = 1_000_000_000
MAX_SPANS = setting("trace-max-spans")


def check_large_trace(stack: Stack, service: str, count: int) -> None:
    """Of `count` spans, a multiple of 10,000, 10,000 are kept and the others counted; other traces are exact."""
    prefix = f"beside-{service}-"
    trace_id = service.encode().ljust(7)[:7] + random.Random(time.time_ns()).randbytes(9)
    beside = random_traces.placed(random_traces.batch(40), prefix, time.time_ns() - 60 * SECOND)
    sent = [(_many_spans(service, trace_id, n * MAX_SPANS, MAX_SPANS), n % 2) for n in range(count // MAX_SPANS)]
    step = len(sent) / len(beside)
    for n, trace in reversed(list(enumerate(beside))):
        sent.insert(round((n + 1) * step), (message(trace), n % PARTITIONS))
    start = end_offsets(stack, "otlp_spans")
    produce(stack.address["SLUICE_KAFKA"], sent)

    accepted = {"accepted": count}
    assert eventually(lambda: outcomes(stack, "concurrency", service), accepted) == accepted
    kept = {"accepted": MAX_SPANS, "trace_too_large": count - MAX_SPANS}
    assert eventually(lambda: outcomes(stack, "call_graph", service), kept) == kept
    windows = f"SELECT sum(completions) FROM windows FINAL WHERE service = '{service}'"
    assert eventually(lambda: stack.value(windows), count) == count

    records = [record for record in records_since(stack, start) if prefix.encode() in (record.message or b"")]
    check_all(stack, prefix, Reference(records), TABLES)


def check_crowd(stack: Stack, name: str, count: int) -> None:
    """`count` services in one message and one trace, each with an instance of its own."""
    now = time.time_ns()
    trace_id = now.to_bytes(16, "big")
    start_ns = now - SECOND // 10
    spans = (
        SentSpan(f"{name}-{n}", trace_id, (n + 1).to_bytes(8, "big"), b"", "SERVER", start_ns, now, f"instance-{n}")
        for n in range(count)
    )
    produce(stack.address["SLUICE_KAFKA"], [(message(spans), 0)])
    accepted = {"accepted": count}
    assert eventually(lambda: outcomes(stack, "concurrency", f"{name}-"), accepted) == accepted
    kept = {"accepted": MAX_SPANS, "trace_too_large": count - MAX_SPANS}
    assert eventually(lambda: outcomes(stack, "call_graph", f"{name}-"), kept) == kept
    found = f"SELECT uniqExact(service), uniqExact(instance) FROM windows WHERE startsWith(service, '{name}-')"
    assert list(stack.rows(found)[0].values()) == [count, count]


def outcomes(stack: Stack, job: str, prefix: str) -> dict[str, int]:
    """Spans by their outcome in a job, of the services whose names begin with `prefix`."""
    rows = stack.rows(
        f"""SELECT outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = '{job}' AND startsWith(service, '{prefix}') GROUP BY outcome HAVING spans != 0"""
    )
    return {row["outcome"]: row["spans"] for row in rows}


def _many_spans(service: str, trace_id: bytes, first: int, count: int) -> bytes:
    """One message of `count` children of one parent, put together by hand: a library would take minutes."""
    now = time.time_ns()
    mark = b"SPAN--ID"
    (template,) = ExportTraceServiceRequest.FromString(
        message([SentSpan(service, trace_id, mark, b"parent-0", "SERVER", now - SECOND, now)])
    ).resource_spans
    before, after = template.scope_spans[0].spans[0].SerializeToString().split(mark)
    resource = field(1, template.resource.SerializeToString())
    spans = b"".join(field(2, before + n.to_bytes(8, "big") + after) for n in range(first + 1, first + count + 1))
    return field(1, resource + field(2, spans))
