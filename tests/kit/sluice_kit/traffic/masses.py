"""Masses: of spans in one trace, and of services, names and trace ids in one message."""

import random
import time

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.settings import setting
from sluice_kit.reference.truth import TABLES, Reference, check_all, records_since
from sluice_kit.traffic import random_traces
from sluice_kit.traffic.messages import PARTITIONS, SentSpan, message, produce
from sluice_kit.traffic.wire import field
from sluice_kit.waiting import eventually

SECOND = 1_000_000_000
MAX_SPANS = setting("trace-max-spans")
MESSAGE_TRACES = setting("message-traces")
MOST_SERVICES = setting("most-services")
MORE = "(more)"


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
    """`count` services in one message and one trace, each with an instance of its own: the first are told apart."""
    before = {job: outcomes(stack, job, MORE) for job in ("concurrency", "call_graph")}

    def counts(job: str) -> tuple[int, dict[str, int]]:
        """Services that are told apart, and spans by outcome of these and, beyond what was there, of the rest."""
        named, rest = outcomes(stack, job, f"{name}-"), outcomes(stack, job, MORE)
        more = {outcome: spans - before[job].get(outcome, 0) for outcome, spans in rest.items()}
        sums = {outcome: named.get(outcome, 0) + more.get(outcome, 0) for outcome in named | more}
        return named.get("accepted", 0), {outcome: spans for outcome, spans in sums.items() if spans}

    now = time.time_ns()
    trace_id = now.to_bytes(16, "big")
    start_ns = now - SECOND // 10
    spans = (
        SentSpan(f"{name}-{n}", trace_id, (n + 1).to_bytes(8, "big"), b"", "SERVER", start_ns, now, f"instance-{n}")
        for n in range(count)
    )
    produce(stack.address["SLUICE_KAFKA"], [(message(spans), 0)])
    assert eventually(lambda: sum(counts("concurrency")[1].values()), count) == count
    distinct, counted = counts("concurrency")
    # Some of the places are those of services that the same seconds had.
    assert 0.9 * MOST_SERVICES < distinct <= MOST_SERVICES
    assert counted == {"accepted": distinct, "accepted_more": count - distinct}
    kept = {"accepted": distinct, "accepted_more": MAX_SPANS - distinct, "trace_too_large": count - MAX_SPANS}
    assert eventually(lambda: counts("call_graph")[1], kept) == kept
    windows = f"SELECT uniqExact(service), uniqExact(instance) FROM windows WHERE startsWith(service, '{name}-')"
    assert list(stack.rows(windows)[0].values()) == [distinct, distinct]


def check_trace_ids(stack: Stack, service: str, count: int) -> None:
    """`count` traces of a span each in one message: the first are assembled, the spans of the others counted."""
    produce(stack.address["SLUICE_KAFKA"], [(_many_spans(service, b"", 0, count), 0)])
    accepted = {"accepted": count}
    assert eventually(lambda: outcomes(stack, "concurrency", service), accepted) == accepted
    kept = {"accepted": MESSAGE_TRACES, "too_many_traces": count - MESSAGE_TRACES}
    assert eventually(lambda: outcomes(stack, "call_graph", service), kept) == kept
    query = f"SELECT sum(traces) FROM critical_paths FINAL WHERE root_service = '{service}'"
    assert eventually(lambda: stack.value(query), MESSAGE_TRACES) == MESSAGE_TRACES


def check_flood(stack: Stack, service: str, count: int) -> None:
    """`count` traces of a span each, a multiple of what is kept of a message, at once: each is closed and seen."""
    number = count // MESSAGE_TRACES
    sent = [(_many_spans(service, b"", n * MESSAGE_TRACES, MESSAGE_TRACES), n % PARTITIONS) for n in range(number)]
    produce(stack.address["SLUICE_KAFKA"], sent)
    accepted = {"accepted": count}
    for job in ("concurrency", "call_graph"):
        assert eventually(lambda job=job: outcomes(stack, job, service), accepted) == accepted  # type: ignore[misc]
    query = f"SELECT sum(traces) FROM critical_paths FINAL WHERE root_service = '{service}'"
    assert eventually(lambda: stack.value(query), count) == count
    closed = f"""SELECT sum(traces) FROM trace_counts FINAL
                 WHERE service = '{service}' AND cause IN ('closed_quiet', 'closed_max_age', 'closed_early')"""
    assert eventually(lambda: stack.value(closed), count) == count


def outcomes(stack: Stack, job: str, prefix: str) -> dict[str, int]:
    """Spans by their outcome in a job, of the services whose names begin with `prefix`."""
    rows = stack.rows(
        f"""SELECT outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = '{job}' AND startsWith(service, '{prefix}') GROUP BY outcome HAVING spans != 0"""
    )
    return {row["outcome"]: row["spans"] for row in rows}


def _many_spans(service: str, trace_id: bytes, first: int, count: int) -> bytes:
    """One message of `count` children of one parent, put together by hand: a library would take minutes.

    Without a trace id each is a root, and a trace of its own.
    """
    now = time.time_ns()
    mark = b"SPAN--ID"
    parent_id = b"parent-0" if trace_id else b""
    own_trace = trace_id or now.to_bytes(8, "big") + mark[::-1]
    (template,) = ExportTraceServiceRequest.FromString(
        message([SentSpan(service, own_trace, mark, parent_id, "SERVER", now - SECOND, now)])
    ).resource_spans
    packed = template.scope_spans[0].spans[0].SerializeToString()
    resource = field(1, template.resource.SerializeToString())
    ids = (n.to_bytes(8, "big") for n in range(first + 1, first + count + 1))
    spans = b"".join(field(2, packed.replace(mark, span_id).replace(mark[::-1], span_id)) for span_id in ids)
    return field(1, resource + field(2, spans))
