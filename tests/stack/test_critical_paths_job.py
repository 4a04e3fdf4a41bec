"""The job `critical_paths` on the real stack: its tables equal those of plain Python, row for row."""

import gzip
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.reference.path_tables import SECOND, Key, Tables, tables
from sluice_kit.reference.path_walk import SpanDict, jaeger_spans
from sluice_kit.reference.settings import setting
from sluice_kit.traffic import hotel
from sluice_kit.traffic.path_traces import KINDS, RECORDED, random_trace

Trace = tuple[str, list[SpanDict]]
MADE_TRACES = 600
LATE_TRACES = 25
RECORDED_TRACES = 1500
COLUMNS = {
    "critical_paths": "signature window_s traces sum_ns sum_ns2 latency slowest_ns slowest_trace_id median_trace_id",
    "path_services": "service window_s traces self_sum self_sum2 e2e_sum e2e_sum2 self_x_e2e "
    "upstream_sum upstream_sum2 call_upstream_sum wait_sum blame_sum blame_sum2 blame_x_e2e "
    "self_latency upstream_latency call_upstream_latency blame_latency",
}


def test_made_traces_late_repeated_and_shuffled(stack: Stack) -> None:
    """What the rules say of random traces, cut in pieces that come in any order, some twice and some too late."""
    rng = random.Random(33)
    traces = [made(rng, n) for n in range(MADE_TRACES)]
    early, late = [], []
    for nth, (trace_id, spans) in enumerate(traces):
        shuffled = rng.sample(spans, len(spans))
        cut = rng.randint(1, max(1, len(spans) - 1))
        early.append((trace_id, shuffled[:cut]))
        (late if nth < LATE_TRACES else early).append((trace_id, shuffled[cut:]))
    late = [piece for piece in late if piece[1]]
    assert len(late) > LATE_TRACES / 2
    rng.shuffle(early)
    repeated = early[:40]
    whole = [early_part(trace, late) for trace in traces]
    expected = tables(whole + late, late=set(range(len(whole), len(whole) + len(late))))
    before = causes(stack)

    send(stack, early)
    send(stack, repeated)
    time.sleep(setting("trace-quiet-ms") / 1000 + 1)  # the traces are closed
    send(stack, late)

    check(stack, "cp-", expected)
    assert {cause for cause, _ in expected.causes} >= {
        "late",
        "incomplete",
        "empty",
        "outside_parent",
        "asynchronous",
        "cycle",
    }
    assert difference(causes(stack), before) == expected.causes
    repeats = sum(len(spans) for _, spans in repeated)
    spans = sum(len(spans) for _, spans in traces)
    counts = {"accepted": spans, "repeated_message": repeats}
    assert eventually(lambda: outcomes(stack, "cp-"), counts) == counts


def test_hotel(stack: Stack) -> None:
    """Traces of one shape: the paths have the way that the calls were made in; Pearson's correlation is that of R."""
    made_hotel = hotel.traces(300, seed=11, prefix="cph-", start_us=(time.time_ns() - 60 * SECOND) // 1000)
    traces = [from_jaeger(trace, "", 0) for trace in made_hotel]
    send(stack, traces)
    expected = tables(traces)
    names = "frontend > search > geo > rate > reservation > profile"
    assert {key[3] for key in expected.critical_paths} == {" > ".join("cph-" + name for name in names.split(" > "))}
    check(stack, "cph-", expected)

    view = stack.rows(
        """SELECT service, traces, share_of_traces, pearson, mean_self_ms, share_of_end_to_end
           FROM v_critical_services(seconds = 600) WHERE root_service = 'cph-frontend'"""
    )
    assert len(view) == 6
    of_rate = next(row for row in view if row["service"] == "cph-rate")
    own, whole = [], []
    for _, spans in traces:
        rate = [span for span in spans if span["service"] == "cph-rate"]
        own.append(sum(span["end_ns"] - span["start_ns"] for span in rate) / 1e6)
        whole.append((spans[0]["end_ns"] - spans[0]["start_ns"]) / 1e6)
    assert (int(of_rate["traces"]), of_rate["share_of_traces"]) == (300, 1)
    assert of_rate["mean_self_ms"] == pytest.approx(statistics.mean(own))
    assert of_rate["share_of_end_to_end"] == pytest.approx(sum(own) / sum(whole))
    assert of_rate["pearson"] == pytest.approx(statistics.correlation(own, whole), abs=1e-9)
    (way,) = stack.rows("SELECT * FROM v_critical_path(seconds = 600) WHERE root_service = 'cph-frontend'")
    assert (int(way["traces"]), way["share"], way["complete"]) == (300, 1, True)
    assert way["slowest_ms"] == pytest.approx(max(whole))


def test_recorded_hotel(stack: Stack) -> None:
    path = RECORDED / "dsb_hotel_reservation__hotel_load100.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the recorded traces are not beside this repository ({RECORDED}); the made ones are tested")
    with gzip.open(path, "rt") as lines:
        recorded = [json.loads(line) for line, _ in zip(lines, range(RECORDED_TRACES), strict=False)]
    newest_us = max(span["startTime"] + span["duration"] for trace in recorded for span in trace["spans"])
    traces = [from_jaeger(trace, "cpr-", time.time_ns() - newest_us * 1000) for trace in recorded]
    send(stack, traces)
    check(stack, "cpr-", tables(traces))


def made(rng: random.Random, number: int) -> Trace:
    """A random trace of the services cp-0 to cp-3 in the last minute; ids are used once."""
    unit, now = 100_000, time.time_ns()
    start = now - rng.randrange(10 * SECOND, 60 * SECOND)
    spans: dict[str, SpanDict] = {}
    for span in random_trace(rng, f"{number + 1:08x}"):
        if span["end_ns"] > span["start_ns"]:  # what ends before it starts is a dead letter
            span["start_ns"], span["end_ns"] = start + unit * span["start_ns"], start + unit * span["end_ns"]
            service = f"cp-{rng.randrange(4)}"
            spans.setdefault(span["span_id"], span | {"service": service, "operation": f"op{rng.randrange(2)}"})
    if not spans:
        return made(rng, number)
    return f"{rng.getrandbits(128):032x}", list(spans.values())


def early_part(trace: Trace, late: list[Trace]) -> Trace:
    """What is left of a trace without the part that comes late."""
    parts = [spans for trace_id, spans in late if trace_id == trace[0]]
    held = {span["span_id"] for spans in parts for span in spans}
    return trace[0], [span for span in trace[1] if span["span_id"] not in held]


def from_jaeger(trace: dict[str, Any], prefix: str, shift_ns: int) -> Trace:
    spans = jaeger_spans(trace)
    for span, recorded in zip(spans, trace["spans"], strict=True):
        span["service"] = prefix + trace["processes"][recorded["processID"]]["serviceName"]
        span["operation"] = recorded["operationName"]
        span["start_ns"] += shift_ns
        span["end_ns"] += shift_ns
    return trace["traceID"].zfill(32), spans


def send(stack: Stack, pieces: list[Trace]) -> None:
    """Puts pieces of traces on the topic, 20 a message, as the collector batches them."""
    producer = Producer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all"})
    for first in range(0, len(pieces), 20):
        producer.produce("otlp_spans", message(pieces[first : first + 20]))
    assert producer.flush(20) == 0


def message(pieces: Iterable[Trace]) -> bytes:
    request = ExportTraceServiceRequest()
    for trace_id, spans in pieces:
        for span in spans:
            resource = request.resource_spans.add()
            names = {"service.name": span["service"], "host.name": span["host"]}
            for key, value in names.items():
                if value:
                    resource.resource.attributes.add(key=key).value.string_value = value
            out = resource.scope_spans.add().spans.add(
                trace_id=bytes.fromhex(trace_id),
                span_id=bytes.fromhex(span["span_id"]),
                parent_span_id=bytes.fromhex(span["parent_id"]),
                name=span["operation"],
                kind=1 + KINDS.index(span["kind"]),  # type: ignore[arg-type]
                start_time_unix_nano=span["start_ns"],
                end_time_unix_nano=span["end_ns"],
            )
            if span["linked"]:
                out.links.add(trace_id=out.trace_id, span_id=out.span_id)
    return request.SerializeToString()


def check(stack: Stack, prefix: str, expected: Tables) -> None:
    """The rows of the root services with `prefix`, when the last trace is closed."""
    traces = sum(row["traces"] for row in expected.path_services.values())
    query = f"SELECT sum(traces) FROM path_services FINAL WHERE startsWith(root_service, '{prefix}')"
    assert eventually(lambda: int(stack.value(query)), traces) == traces
    assert rows(stack, "critical_paths", prefix) == expected.critical_paths
    assert rows(stack, "path_services", prefix) == expected.path_services


def rows(stack: Stack, table: str, prefix: str) -> dict[Key, dict[str, Any]]:
    names = COLUMNS[table].split()
    by_key: dict[Key, dict[str, Any]] = {}
    for row in stack.rows(
        f"""SELECT root_service, root_operation, complete, {", ".join(names)}, version,
                   toUnixTimestamp(window) AS second
            FROM {table} FINAL WHERE startsWith(root_service, '{prefix}')"""
    ):
        assert int(row["window_s"]) == 10
        key = (row["root_service"], row["root_operation"], row["complete"], row[names[0]], int(row["second"]))
        by_key[key] = {name: _plain(row[name]) for name in [*names[2:], "version"]}
    return by_key


def _plain(value: Any) -> Any:
    """Numbers that JSON has as text, as numbers; trace ids as they are."""
    if isinstance(value, dict):
        return {int(index): int(count) for index, count in value.items()}
    return value if isinstance(value, str) and len(value) == 32 else int(value)


def causes(stack: Stack) -> dict[tuple[str, str], list[int]]:
    """(cause, service) to [traces, spans], of the services of this test and of unknown ones."""
    query = """SELECT cause, service, sum(traces) AS traces, sum(spans) AS spans FROM trace_counts FINAL
               WHERE startsWith(service, 'cp-') OR service = '' GROUP BY cause, service"""
    return {(r["cause"], r["service"]): [int(r["traces"]), int(r["spans"])] for r in stack.rows(query)}


def difference(
    after: dict[tuple[str, str], list[int]], before: dict[tuple[str, str], list[int]]
) -> dict[tuple[str, str], list[int]]:
    grown = {
        key: [now - then for now, then in zip(counts, before.get(key, [0, 0]), strict=True)]
        for key, counts in after.items()
    }
    return {key: counts for key, counts in grown.items() if any(counts)}


def outcomes(stack: Stack, prefix: str) -> Counter[str]:
    """Spans by outcome of the job critical_paths; late ones are accepted like others."""
    query = f"""SELECT replaceOne(c.outcome, 'accepted_late', 'accepted') AS outcome, sum(c.spans) AS spans
                FROM ingest_counts AS c FINAL
                WHERE job = 'critical_paths' AND startsWith(service, '{prefix}') GROUP BY outcome
                HAVING spans != 0"""
    return Counter({row["outcome"]: int(row["spans"]) for row in stack.rows(query)})
