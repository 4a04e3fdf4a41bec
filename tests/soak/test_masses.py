"""Traces and messages as no application has them, by which memory would be lost first."""

import time

from confluent_kafka import Producer
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.running_job import undisturbed
from sluice_kit.reference.settings import setting
from sluice_kit.traffic.masses import check_crowd, check_flood, check_large_trace, outcomes
from sluice_kit.traffic.otlp_http import attributes, point
from sluice_kit.waiting import eventually

MOST_HOSTS = setting("most-hosts")
SECOND = 1_000_000_000


def test_a_million_spans_in_one_trace(stack: Stack) -> None:
    with undisturbed(stack):
        check_large_trace(stack, "million", 1_000_000)


def test_a_hundred_thousand_services_in_one_message(stack: Stack) -> None:
    with undisturbed(stack):
        check_crowd(stack, "throng", 100_000)


def test_a_million_traces_of_one_span(stack: Stack) -> None:
    """More than the heap of a TaskManager of 1.5 GB has room for: closed early where need be, and counted all."""
    with undisturbed(stack):
        check_flood(stack, "flood", 1_000_000)


def test_hosts_of_metrics_beyond_the_bound_count_as_one(stack: Stack) -> None:
    """Half as many again as are told apart, in one message: the rest has no sum, and no view shows it as a host."""
    count, at = MOST_HOSTS * 3 // 2, time.time_ns() - SECOND
    request = ExportMetricsServiceRequest()
    for n in range(count):
        group = request.resource_metrics.add()
        group.resource.attributes.extend(attributes({"host.name": f"crowd-{n}"}))
        group.scope_metrics.add().metrics.add(name="system.memory.bandwidth").gauge.data_points.append(point(at, 7))
    producer = Producer(
        {"bootstrap.servers": stack.address["SLUICE_KAFKA"], "acks": "all", "message.max.bytes": 4 << 20}
    )
    producer.produce("otlp_metrics", request.SerializeToString())
    assert producer.flush(20) == 0
    table = "FROM resource_metrics FINAL WHERE role = 'host_memory_bandwidth' AND"
    rest = f"{table} host = '(more)' AND window = fromUnixTimestamp(intDiv({at}, 10000000000) * 10)"
    sums = f"""SELECT (SELECT count() {table} startsWith(host, 'crowd-')) AS told,
                   (SELECT sum(points) {rest}) AS rest, (SELECT sum(value_sum) {rest}) AS value"""

    def counts() -> tuple[int, int, int]:
        distinct, more, value = (int(number) for number in stack.rows(sums)[0].values())
        return distinct, more, value

    assert eventually(lambda: sum(counts()[:2]), count) == count
    distinct, more, value = counts()
    # Some of the places are those of hosts that the same seconds had.
    assert 0.9 * MOST_HOSTS < distinct <= MOST_HOSTS
    assert (more, value) == (count - distinct, 0)
    assert outcomes(stack, "resource_metrics", "").get("accepted_more", 0) >= more
    shown = f"""SELECT uniqExact(host), countIf(host = '(more)')
                FROM v_host_utilization_between(from_ms = {at // 10**6 - 20_000}, until_ms = {at // 10**6 + 20_000})
                WHERE startsWith(host, 'crowd-') OR host = '(more)'"""
    assert list(stack.rows(shown)[0].values()) == [distinct, 0]
