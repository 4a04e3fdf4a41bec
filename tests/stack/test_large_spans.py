"""Spans of megabytes: the topic carries what it can take, and each that it cannot is left out alone, and counted."""

import itertools
import json
import os
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
import requests
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from sluice.cli.doctor.prometheus import sums
from sluice_kit.local_stack.driver import REPOSITORY, Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.traffic.messages import SentSpan, message, produce
from sluice_kit.traffic.otlp_http import post

SECOND = 1_000_000_000
MB = 1_000_000
Send = Callable[[Stack, ExportTraceServiceRequest], None]
numbers = itertools.count(1)


def largest_request() -> int:
    """What the collector of the local stack sends in one message, in bytes."""
    config = yaml.safe_load((REPOSITORY / "collector/config/local.yaml").read_text())
    return int(config["processors"]["span_limit"]["max_bytes"])


def span(service: str, size: int = 0) -> SentSpan:
    now = time.time_ns()
    number = next(numbers)
    ids = {"trace_id": now.to_bytes(16, "big"), "span_id": number.to_bytes(8, "big"), "parent_id": b""}
    return SentSpan(service, kind="SERVER", start_ns=now - SECOND, end_ns=now, **ids, payload=os.urandom(size))


def request(*spans: SentSpan) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString(message(spans))


def http(stack: Stack, body: ExportTraceServiceRequest) -> None:
    post(stack, "traces", body)


def over_grpc(stack: Stack, body: ExportTraceServiceRequest) -> None:
    with grpc.insecure_channel(stack.address["SLUICE_OTLP_GRPC"]) as channel:
        TraceServiceStub(channel).Export(body, timeout=20)


def outcomes(stack: Stack, prefix: str) -> dict[str, int]:
    rows = stack.rows(
        f"""SELECT concat(service, ' ', outcome) AS outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = 'concurrency' AND startsWith(service, '{prefix}') GROUP BY outcome"""
    )
    return {row["outcome"]: int(row["spans"]) for row in rows}


def lost_spans(stack: Stack) -> list[dict[str, Any]]:
    answer = stack.sluice("sql", "--recipe", "lost_spans", "-o", "json")
    assert answer.returncode == 0, answer.stderr
    rows: list[dict[str, Any]] = json.loads(answer.stdout)
    return rows


@pytest.mark.parametrize(("send", "via"), [(http, "http"), (over_grpc, "grpc")])
def test_large_spans_arrive_and_one_that_no_message_holds_is_left_out_alone(stack: Stack, send: Send, via: str) -> None:
    """Bytes that do not compress: the topic's limit counts compressed ones."""
    start, letters = end_offsets(stack, "otlp_spans"), end_offsets(stack, "otlp_dead_letter")
    a, b = f"large-{via}-a", f"large-{via}-b"
    largest = span(b, largest_request() - 200)
    lost = span(a, 6 * MB)
    send(stack, request(span(a), span(a, MB), span(a, 3_500_000), lost, span(a), span(b), largest, span(b)))

    expected = {f"{a} accepted": 4, f"{a} too_large": 1, f"{b} accepted": 3}
    assert eventually(lambda: outcomes(stack, f"large-{via}"), expected) == expected
    # What a person reads: the query of the cookbook, the doctor, and the dead letter.
    (row,) = [row for row in lost_spans(stack) if (row["job"], row["service"]) == ("concurrency", a)]
    assert (row["cause"], int(row["spans"])) == ("too_large", 1)
    findings = json.loads(stack.sluice("doctor", "-o", "json").stdout)
    (large,) = [finding for finding in findings if (finding["stage"], finding["what"]) == ("collector", "large spans")]
    assert large["level"] == "warn"
    assert f"{a}: 1" in large["text"]
    assert "LENGTH_LIMIT" in large["remedy"]
    (letter,) = [json.loads(value) for value in messages_since(stack, letters) if a.encode() in value]
    assert (letter["reason"], letter["service"]) == ("too_large", a)
    assert (letter["trace_id"], letter["span_id"]) == (lost.trace_id.hex(), lost.span_id.hex())
    # The payload, and what stands around it.
    assert 6 * MB < int(letter["detail"].split()[0]) < 6 * MB + 200
    assert largest_request() - 200 < max(len(value) for value in messages_since(stack, start)) <= largest_request()


def test_the_topic_refuses_what_the_collector_does_not_send(stack: Stack) -> None:
    """The topic's limit is the collector's, and what a record takes itself."""
    produce(stack.address["SLUICE_KAFKA"], [(message([span("just-fits", largest_request() - 200)]), 0)], "none")
    with pytest.raises(AssertionError, match="MSG_SIZE_TOO_LARGE"):
        produce(stack.address["SLUICE_KAFKA"], [(message([span("refused", 2**22)]), 0)], "none")


def test_accepted_spans_are_compared_with_those_on_the_topic(stack: Stack) -> None:
    """Live by the doctor; in SQL within 10 s, by the counters that the collector sends to itself."""
    before = live_counters(stack)
    send = request(*(span("balanced") for _ in range(500)))
    for _ in range(3):  # twice the same bytes again
        http(stack, send)
    expected = {"balanced accepted": 500, "balanced repeated_message": 1000}
    assert eventually(lambda: outcomes(stack, "balanced"), expected) == expected
    after = live_counters(stack)
    assert {name: after[name] - before[name] for name in after} == {"accepted": 1500, "sent": 1500, "failed": 0}

    findings = json.loads(stack.sluice("doctor", "-o", "json", "--timeout", "20").stdout)
    (finding,) = [check for check in findings if (check["stage"], check["what"]) == ("collector", "spans on the topic")]
    assert finding["level"] == "ok", finding
    assert f"{after['accepted']:,} accepted, {after['sent']:,} sent" in finding["text"]
    totals = """SELECT sum(accepted) AS accepted, sum(sent) AS sent, sum(failed) AS failed
        FROM v_span_balance(seconds = 7200)"""
    assert eventually(lambda: {k: int(v) for k, v in stack.rows(totals)[0].items()}, after, steady_s=0) == after


def live_counters(stack: Stack) -> dict[str, int]:
    """Spans since the collector's start, by its metrics."""
    metrics = sums(requests.get(f"http://{stack.address['SLUICE_COLLECTOR_METRICS']}/metrics", timeout=20).text)
    names = {"accepted": "receiver_accepted", "sent": "exporter_sent", "failed": "exporter_send_failed"}
    return {key: int(metrics.get(f"otelcol_{name}_spans", 0)) for key, name in names.items()}
