"""Spans and metrics go into the collector; v_container_latency says what was worked out by hand."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.traffic.otlp_http import attributes, point, post, send_metric

MS = 1_000_000
S = 1_000_000_000
SERVICE = "priced"
POD = {"k8s.pod.name": "priced-0", "k8s.node.name": "node-7"}


def send_spans(stack: Stack, window_ns: int, latencies_ms: Iterable[int]) -> None:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.extend(attributes({"service.name": SERVICE} | POD))
    spans = resource.scope_spans.add().spans
    for n, ms in enumerate(latencies_ms, start=1):
        spans.add(
            trace_id=(window_ns + n).to_bytes(16, "big"),
            span_id=n.to_bytes(8, "big"),
            name="work",
            kind=Span.SPAN_KIND_SERVER,
            start_time_unix_nano=window_ns + S,
            end_time_unix_nano=window_ns + S + ms * MS,
        )
    post(stack, "traces", request)


def test_latencies_are_joined_with_what_host_and_container_were_busy_with(stack: Stack) -> None:
    """1 ms and 4 ms on a host of two CPUs that idle 70 % and 10 %, on a container that uses 0.5 of 2 cores."""
    window = (time.time_ns() // (10 * S) - 3) * 10 * S
    boot = window - 3600 * S
    node = {"host.name": "node-7"}
    # The later reading of the counter first: order does not matter.
    send_metric(stack, node, "system.network.io", point(window + 3 * S, 1500, boot, device="eth0"), counter=True)
    send_spans(stack, window, [1, 4])
    send_metric(
        stack,
        node,
        "system.cpu.utilization",
        point(window + 2 * S, 0.6, cpu="cpu0", state="idle"),
        point(window + 7 * S, 0.8, cpu="cpu0", state="idle"),
        point(window + 2 * S, 0.1, cpu="cpu1", state="idle"),
        point(window + 7 * S, 0.1, cpu="cpu1", state="idle"),
        point(window + 2 * S, 0.4, cpu="cpu0", state="user"),
    )
    send_metric(stack, POD, "container.cpu.usage", point(window + 4 * S, 0.5))
    send_metric(stack, POD, "k8s.container.cpu_limit", point(window + 4 * S, 2))
    send_metric(stack, node, "system.network.io", point(window - 7 * S, 1000, boot, device="eth0"), counter=True)

    def sample() -> dict[str, Any]:
        rows = stack.rows(
            f"""SELECT requests, requests_per_s, round(exp(ln_mean) / 1e6, 6) AS geometric_mean_ms,
                    round(sqrt(ln_variance), 6) AS ln_sd, round(host_cpu_utilization, 6) AS host_cpu,
                    host_network_bytes_per_s, host_memory_bandwidth_bytes_per_s, container_cpu_cores,
                    container_cpu_limit_cores, container_cpu_utilization, toUnixTimestamp(window) AS window
                FROM v_container_latency WHERE service = '{SERVICE}' AND instance = 'priced-0' AND host = 'node-7'"""
        )
        assert len(rows) <= 1
        return {name: None if value is None else float(value) for row in rows for name, value in row.items()}

    expected = {
        "requests": 2,
        "requests_per_s": 0.2,
        "geometric_mean_ms": 2,
        "ln_sd": round(math.log(2), 6),
        "host_cpu": 0.6,
        "host_network_bytes_per_s": 50,
        "host_memory_bandwidth_bytes_per_s": None,
        "container_cpu_cores": 0.5,
        "container_cpu_limit_cores": 2,
        "container_cpu_utilization": 0.25,
        "window": window // S,
    }
    assert eventually(sample, expected) == pytest.approx(expected)


def refused(stack: Stack) -> Counter[str]:
    """Messages and points that were not taken, by outcome."""
    rows = stack.rows(
        "SELECT outcome, sum(spans) + sum(messages) AS n FROM ingest_counts FINAL "
        "WHERE job = 'resource_metrics' AND outcome != 'accepted' GROUP BY outcome"
    )
    return Counter({row["outcome"]: int(row["n"]) for row in rows})


def test_bad_metrics_are_dead_letters_and_the_next_ones_count(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_dead_letter")
    before = refused(stack)
    now = time.time_ns()
    producer = Producer({"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all"})
    producer.produce("otlp_metrics", b"\xff\xff\xff\xff not protobuf")
    assert producer.flush(20) == 0
    send_metric(stack, {"some": "thing"}, "container.cpu.usage", point(now, 0.5))
    send_metric(stack, {"host.name": "node-bad"}, "system.memory.bandwidth", point(now, -1))
    send_metric(stack, {"host.name": "node-good"}, "system.memory.bandwidth", point(now, 7e9))

    def letters() -> list[tuple[str, str]]:
        parsed = [json.loads(message) for message in messages_since(stack, start)]
        return sorted((letter["reason"], letter["topic"]) for letter in parsed)

    expected = [(reason, "otlp_metrics") for reason in ("malformed_message", "missing_identity", "value_out_of_range")]
    assert eventually(letters, expected) == expected
    rows = stack.rows("SELECT host, value_sum FROM resource_metrics FINAL WHERE host IN ('node-good', 'node-bad')")
    assert [(row["host"], int(row["value_sum"])) for row in rows] == [("node-good", 7_000_000_000)]
    once_each = Counter(reason for reason, _ in expected)
    assert eventually(lambda: refused(stack) - before, once_each) == once_each
    assert int(stack.value("SELECT count() FROM resource_metrics WHERE role = 'host_cpu_idle'")) > 0
