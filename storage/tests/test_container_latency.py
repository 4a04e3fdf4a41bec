"""Container latencies joined with what hosts and containers were busy with: rates, resets, and what is not known."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from testbed.windows import latency_index

MS = 1_000_000
S = 1_000_000_000
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
START_NS = round(START.timestamp()) * S
BOOT = START_NS - 3600 * S
SAMPLE = [
    "service",
    "instance",
    "host",
    "window",
    "window_s",
    "requests",
    "errors",
    "ln_sum",
    "ln_sum2",
    "latency",
    "version",
]
RESOURCE = [
    "role",
    "host",
    "instance",
    "metric_rank",
    "series",
    "kind",
    "start_ns",
    "window",
    "window_s",
    "points",
    "value_sum",
    "value_min",
    "value_max",
    "first_ns",
    "last_ns",
    "version",
]


def sample(
    client: Client,
    *latencies_ms: float,
    instance: str = "cart-0",
    host: str = "node-1",
    nth: int = 0,
    table: str = "container_latency",
) -> None:
    """One row of a container's requests in window `nth`."""
    ns = [round(ms * MS) for ms in latencies_ms]
    moments = [sum(round(1e9 * math.log(n) ** power) for n in ns) for power in (1, 2)]
    histogram: dict[int, int] = {}
    for n in ns:
        histogram[latency_index(n)] = histogram.get(latency_index(n), 0) + 1
    window = START + timedelta(seconds=10 * nth)
    row = ["cart", instance, host, window, 10, len(ns), 0, *moments, histogram, len(ns)]
    client.insert(table, [row], column_names=SAMPLE)


def level(
    client: Client, role: str, series: str, *values: int, instance: str = "", rank: int = 1, nth: int = 0
) -> None:
    """Points of a gauge in window `nth` of node-1, as a part of its own."""
    at = START_NS + 10 * nth * S
    row = [role, "node-1", instance, rank, series, "level", 0, START + timedelta(seconds=10 * nth), 10]
    row += [len(values), sum(values), min(values), max(values), at, at + 5 * S, len(values)]
    client.insert("resource_metrics", [row], column_names=RESOURCE)


def counter(
    client: Client, role: str, series: str, nth: int, points: dict[float, int], since: int = BOOT, rank: int = 1
) -> None:
    """Readings of a counter of node-1 in window `nth`, by seconds after START."""
    times = [START_NS + round(at * S) for at in points]
    row = [role, "node-1", "", rank, series, "counter", since, START + timedelta(seconds=10 * nth), 10]
    row += [len(points), 0, min(points.values()), max(points.values()), min(times), max(times), len(points)]
    client.insert("resource_metrics", [row], column_names=RESOURCE)


def samples(client: Client) -> list[dict[str, Any]]:
    """The view's rows, the same before and after merging."""
    query = "SELECT * FROM v_container_latency ORDER BY instance, window"
    before = list(client.query(query).named_results())
    for table in ("container_latency", "resource_metrics"):
        client.command(f"OPTIMIZE TABLE {table} FINAL")
    assert list(client.query(query).named_results()) == before
    return before


def rates(client: Client, role: str) -> dict[int, float]:
    """Value by number of the window."""
    query = (
        "SELECT dateDiff('second', {start:DateTime('UTC')}, window) / 10 AS nth, value "
        "FROM v_resource_metrics_between(from_ms = 0, until_ms = 4102444800000) WHERE role = {role:String} ORDER BY nth"
    )
    return dict(client.query(query, parameters={"start": START, "role": role}).result_rows)


def test_series_for_which_there_was_no_room_tell_nothing(client: Client) -> None:
    """Of the host's two series one is told apart: 5 bytes/s, not 12."""
    level(client, "host_memory_bandwidth", "system.memory.bandwidth", 5)
    level(client, "host_memory_bandwidth", "(more)", 7)
    assert rates(client, "host_memory_bandwidth") == {0: 5.0}


def test_moments_are_of_the_logarithm(client: Client) -> None:
    """1 ms and 4 ms: the mean of the logarithms is that of 2 ms, their standard deviation ln 2."""
    sample(client, 1, 4)
    (row,) = samples(client)
    assert (row["requests"], row["requests_per_s"]) == (2, 0.2)
    assert math.exp(row["ln_mean"]) == pytest.approx(2 * MS, rel=1e-8)
    assert math.sqrt(row["ln_variance"]) == pytest.approx(math.log(2), rel=1e-8)
    assert row["p50_ms"] == pytest.approx(1, rel=0.006)
    assert row["p99_ms"] == pytest.approx(4, rel=0.006)


def test_equal_latencies_have_no_negative_variance(client: Client) -> None:
    sample(client, *[20] * 1000)
    (row,) = samples(client)
    assert 0 <= row["ln_variance"] < 1e-7


def test_what_is_not_known_is_null(client: Client) -> None:
    sample(client, 20)
    (row,) = samples(client)
    assert {name for name, value in row.items() if value is None} == {
        "host_cpu_utilization",
        "host_memory_bandwidth_bytes_per_s",
        "host_memory_bandwidth_utilization",
        "host_network_bytes_per_s",
        "host_network_utilization",
        "container_cpu_cores",
        "container_cpu_limit_cores",
        "container_cpu_utilization",
    }


def test_each_sample_is_joined_with_its_host_container_and_window(client: Client) -> None:
    for nth in (0, 1):
        for instance, host in (("cart-0", "node-1"), ("cart-1", "node-2")):
            sample(client, 20, instance=instance, host=host, nth=nth)
    level(client, "host_cpu_idle", "cpu0", 600_000_000, 800_000_000)
    level(client, "host_cpu_idle", "cpu1", 100_000_000)
    level(client, "host_cpu_idle", "cpu1", 100_000_000)  # written twice
    level(client, "host_memory_bandwidth", "all", 5_000_000_000)
    level(client, "host_memory_bandwidth_utilization", "all", 250_000_000)
    level(client, "host_network_utilization", "eth0", 100_000_000)
    level(client, "host_network_utilization", "eth1", 300_000_000)
    level(client, "container_cpu", "main", 500_000_000, instance="cart-0")
    level(client, "container_cpu", "sidecar", 100_000_000, instance="cart-0")
    level(client, "container_cpu_limit", "main", 2_000_000_000, instance="cart-0")
    level(client, "container_cpu", "main", 900_000_000, instance="cart-1")
    first, later, other, _ = samples(client)
    assert first["host_cpu_utilization"] == pytest.approx(1 - (0.7 + 0.1) / 2)
    assert first["host_memory_bandwidth_bytes_per_s"] == 5e9
    assert first["host_memory_bandwidth_utilization"] == 0.25
    assert first["host_network_utilization"] == pytest.approx(0.3)
    assert first["container_cpu_cores"] == pytest.approx(0.6)
    assert first["container_cpu_limit_cores"] == 2
    assert first["container_cpu_utilization"] == pytest.approx(0.3)
    assert later["host_cpu_utilization"] is None
    assert later["container_cpu_cores"] is None
    assert (other["instance"], other["host_cpu_utilization"]) == ("cart-1", None)
    assert (other["container_cpu_cores"], other["container_cpu_utilization"]) == (0.9, None)


def test_cores_in_use_stand_in_for_idle_time(client: Client) -> None:
    sample(client, 20)
    level(client, "host_cpu_used", "node", 3_000_000_000)
    level(client, "host_cpu_cores", "node", 4_000_000_000)
    assert samples(client)[0]["host_cpu_utilization"] == 0.75


def test_the_lowest_rank_that_has_a_value_wins(client: Client) -> None:
    level(client, "container_cpu", "usage", 100_000_000, instance="a", rank=1, nth=0)
    level(client, "container_cpu", "pod usage", 900_000_000, instance="a", rank=5, nth=0)
    level(client, "container_cpu", "pod usage", 900_000_000, instance="a", rank=5, nth=1)
    assert rates(client, "container_cpu") == {0: 0.1, 1: 0.9}


def test_a_rate_is_the_growth_since_the_window_before_whatever_order_they_came_in(client: Client) -> None:
    """One reading a window, 500 bytes every 10 s; two interfaces add up. The first window has nothing before it."""
    for nth in (2, 0, 1, 1):
        counter(client, "host_network", "eth0", nth, {10 * nth + 3: 1000 + 500 * nth})
        counter(client, "host_network", "eth1", nth, {10 * nth + 3: 70 + 10 * nth})
    assert rates(client, "host_network") == {1: 51.0, 2: 51.0}


def test_a_restart_with_a_new_start_is_no_negative_rate(client: Client) -> None:
    """Boot anew at 14 s: the old series ends at 12 s, the new one counts from 0: (500 + 300) bytes in (9 + 5) s."""
    counter(client, "host_network", "eth0", 0, {3: 10_000})
    counter(client, "host_network", "eth0", 1, {12: 10_500})
    counter(client, "host_network", "eth0", 1, {19: 300}, since=START_NS + 14 * S)
    counter(client, "host_network", "eth0", 2, {29: 700}, since=START_NS + 14 * S)
    got = rates(client, "host_network")
    assert got[1] == pytest.approx(800 / 14)
    assert got[2] == pytest.approx(40)


def test_a_reset_that_is_not_told_counts_within_its_window(client: Client) -> None:
    counter(client, "host_network", "eth0", 0, {3: 10_000}, since=0)
    counter(client, "host_network", "eth0", 1, {13: 100, 18: 200}, since=0)
    counter(client, "host_network", "eth0", 2, {23: 260}, since=0)
    assert rates(client, "host_network") == {1: 20.0, 2: 12.0}


def test_a_gap_of_more_than_a_minute_is_not_bridged(client: Client) -> None:
    counter(client, "host_network", "eth0", 0, {3: 1000})
    counter(client, "host_network", "eth0", 7, {74: 9000})
    assert rates(client, "host_network") == {}


def test_idle_seconds_become_a_ratio(client: Client) -> None:
    """Of 10 s, cpu0 idles 4 s and cpu1 8 s."""
    sample(client, 20, nth=1)
    for cpu, idle_s in (("cpu0", 4), ("cpu1", 8)):
        for nth in (0, 1):
            counter(client, "host_cpu_idle", cpu, nth, {10 * nth + 1: (100 + idle_s * nth) * S}, rank=2)
    assert samples(client)[0]["host_cpu_utilization"] == pytest.approx(0.4)


def test_a_range_sees_the_reading_before_it(client: Client) -> None:
    counter(client, "host_network", "eth0", 0, {3: 1000})
    counter(client, "host_network", "eth0", 1, {13: 1500})
    query = (
        f"SELECT value FROM v_resource_metrics_between(from_ms = {START_NS // MS + 10_000}, "
        f"until_ms = {START_NS // MS + 20_000})"
    )
    assert client.query(query).result_rows == [(50.0,)]


def test_latency_samples_are_own_times_with_their_hosts_utilization(client: Client) -> None:
    """Whole spans of 100 ms, of which 1 and 4 ms were the container's own: the median is 2 ms, the spread ln 2."""
    sample(client, 100, 100, nth=2)
    sample(client, 1, 4, nth=2, table="container_own_time")
    level(client, "host_cpu_idle", "cpu=0", 750_000_000, nth=2)
    level(client, "host_network_utilization", "eth0", 125_000_000, nth=2)
    since_ms = START_NS // MS + 20_000
    query = f"""SELECT instance, host, requests, rate_per_s, exp(mu), sigma, cpu, memory_bandwidth, network
                FROM v_latency_samples_between(from_ms = {since_ms}, until_ms = {since_ms + 10_000})"""
    (row,) = client.query(query).result_rows
    assert row[:2] == ("cart-0", "node-1")
    assert row[2:7] == pytest.approx((2, 0.2, 2, math.log(2), 0.25))
    assert row[7:] == (None, pytest.approx(0.125))
