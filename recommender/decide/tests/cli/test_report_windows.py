"""Windows, nesting, peers and paths of `sluice report`, worked out by hand."""

import numpy as np
import pytest

from contract.make_latency_index import last_in
from sluice.cli.traces.report.analysis.curves import time_line_of
from sluice.cli.traces.report.analysis.operations import operations_of
from sluice.cli.traces.report.analysis.pools import CandidatePool, PoolBuckets, pools_of
from sluice.cli.traces.report.analysis.ranks import nearest_rank
from sluice.cli.traces.report.analysis.windows import MAX_SPREAD_MS, longest_in_time_ns, windows_of
from sluice_kit.traffic.messages import SentSpan

from .report_spans import MS, sent, traces_of_spans


def rows(*spans: tuple[int, float, float], threshold_ms: float | None = None) -> list[tuple[int, ...]]:
    """Rows (series, bucket, busy ms, completions, errors, in time) of spans (series, start ms, end ms)."""
    series, start, end = (np.array(column) for column in zip(*spans, strict=True))
    start_ns, end_ns = (start * MS).astype(np.int64), (end * MS).astype(np.int64)
    windows = windows_of(series, start_ns, end_ns, np.zeros(len(spans), dtype=np.bool_), threshold_ms)
    columns = (windows.series, windows.bucket, windows.busy_ns // MS, windows.completions, windows.errors)
    return list(zip(*(column.tolist() for column in (*columns, windows.in_time)), strict=True))


def test_a_span_overlaps_the_buckets_that_it_crosses_and_completes_in_the_last() -> None:
    assert rows((0, 80, 230)) == [(0, 0, 20, 0, 0, 0), (0, 1, 100, 0, 0, 0), (0, 2, 30, 1, 0, 1)]


def test_a_span_that_ends_on_a_border_completes_in_a_bucket_in_which_it_was_never_busy() -> None:
    assert rows((0, 50, 100)) == [(0, 0, 50, 0, 0, 0), (0, 1, 0, 1, 0, 1)]


def test_spans_of_one_series_sum_and_those_of_another_do_not() -> None:
    assert rows((1, 0, 40), (0, 10, 20), (0, 90, 110), (0, 900, 950)) == [
        (0, 0, 20, 1, 0, 1),
        (0, 1, 10, 1, 0, 1),
        (0, 9, 50, 1, 0, 1),
        (1, 0, 40, 1, 0, 1),
    ]


def test_of_a_long_span_only_the_newest_part_is_spread() -> None:
    start_ms, end_ms = 1_000, 1_000 + MAX_SPREAD_MS + 5_000
    spread = rows((0, start_ms, end_ms))
    assert (spread[0][1], spread[-1][1]) == (60, end_ms // 100)
    assert sum(row[2] for row in spread) == MAX_SPREAD_MS


def test_a_threshold_is_rounded_down_to_a_border_of_the_histogram() -> None:
    # 2^20 ns is a border: bucket 1279 ends there. The border below 1 ms is that of bucket 1274.
    assert longest_in_time_ns(2**20 / 1e6) == 2**20 == last_in(1279)
    assert longest_in_time_ns(1.0) == last_in(1274) < MS < last_in(1275)
    assert [row[5] for row in rows((0, 0, 99.0), (0, 200, 299.9), threshold_ms=100.0)] == [1, 0]


def pools(*spans: SentSpan, threshold_ms: float | None = None) -> dict[str, CandidatePool]:
    return {str(pool.id): pool for pool in pools_of(traces_of_spans(*spans), 100, threshold_ms)[0]}


def test_a_pool_of_two_instances_counts_the_mean_of_those_with_work() -> None:
    found = pools(
        sent(1, "SERVER", 0, 50),
        sent(2, "SERVER", 0, 100, instance="shop-1"),
        sent(3, "SERVER", 120, 130, instance="shop-1"),
    )
    assert list(found) == ["shop/server"]
    buckets = found["shop/server"].buckets
    # 50 + 100 ms of 2 instances, then 10 ms of one. The second completes at 100, in the second bucket.
    assert buckets.concurrency.tolist() == [0.75, 0.1]
    assert buckets.throughput_per_s.tolist() == [5.0, 20.0]
    assert not buckets.caller_judged
    assert found["shop/server"].instances == ("shop-0", "shop-1")


def test_callers_judge_a_server_pool_and_servers_a_client_pool() -> None:
    found = pools(
        sent(1, "SERVER", 0, 98, service="web", instance="web-0"),
        sent(2, "CLIENT", 0, 90, 1, service="web", instance="web-0"),
        sent(3, "SERVER", 80, 90, 2),
        threshold_ms=50,
    )
    assert sorted(found) == ["shop/server", "web/client/shop", "web/server"]
    # The request waited for 80 ms before its 10 ms: its caller's span of 90 ms is too late.
    assert found["shop/server"].buckets.caller_judged
    assert found["shop/server"].buckets.goodput_per_s.tolist() == [0.0]
    assert found["shop/server"].buckets.throughput_per_s.tolist() == [10.0]
    assert found["web/client/shop"].buckets.caller_judged
    assert not found["web/server"].buckets.caller_judged


@pytest.mark.parametrize(
    ("attributes", "pool"),
    [
        ((("peer.service", "db"),), "shop/client/db"),
        ((("server.address", "10.0.0.6"),), "shop/client/10.0.0.6"),
        ((("server.address", "db"), ("db.name", "orders")), "shop/client/db/orders"),
        ((), "shop/client/unknown"),
    ],
)
def test_a_peer_is_what_the_attributes_name(attributes: tuple[tuple[str, str], ...], pool: str) -> None:
    assert list(pools(sent(1, "CLIENT", 0, 10, attributes=attributes))) == [pool]


def test_the_callee_that_a_trace_shows_goes_before_an_address() -> None:
    found = pools(
        sent(1, "CLIENT", 0, 10, attributes=(("server.address", "10.0.0.6"),)),
        sent(2, "SERVER", 1, 9, 1, service="cart"),
    )
    assert sorted(found) == ["cart/server", "shop/client/cart"]


def test_an_inner_span_of_the_same_thread_or_connection_does_not_count() -> None:
    db = (("peer.service", "db"),)
    found = pools(
        sent(1, "SERVER", 0, 100),
        sent(2, "SERVER", 10, 90, 1),
        sent(3, "CLIENT", 20, 80, 2, attributes=db),
        sent(4, "CLIENT", 30, 70, 3, attributes=db),
        sent(5, "SERVER", 10, 90, 1, instance="shop-1"),
    )
    assert {name: pool.spans for name, pool in found.items()} == {"shop/server": 2, "shop/client/db": 1}


def test_rules_leave_probes_out() -> None:
    assert pools(sent(1, "SERVER", 0, 5, attributes=(("url.path", "/healthz"),))) == {}


def test_blame_of_the_worked_example() -> None:
    """Blame.java's example: frontend 15, orders 18, cart 67 of 100 ns; here in ms."""
    traces = traces_of_spans(
        sent(1, "SERVER", 0, 100, service="frontend"),
        sent(2, "CLIENT", 10, 95, 1, service="frontend"),
        sent(3, "SERVER", 50, 95, 2, service="orders"),
        sent(4, "CLIENT", 55, 90, 3, service="orders"),
        sent(5, "SERVER", 60, 90, 4, service="cart"),
    )
    names = [traces.labels.names.texts[number] for number in traces.paths.part_service]
    assert names == ["frontend", "orders", "cart"]
    assert (traces.paths.own_ns / MS).tolist() == [55, 15, 30]
    assert (traces.paths.wait_ns / MS).tolist() == [0, 40, 5]
    assert (traces.paths.blame_ns / MS).round(1).tolist() == [15.0, 18.9, 66.1]


def test_an_operation_has_its_quantiles_and_ways() -> None:
    ids = ((number).to_bytes(16) for number in range(1, 100))
    spans = [sent(1, "SERVER", 0, took, trace_id=next(ids), name="GET /") for took in (10, 20, 30, 40)]
    (operation,), left_out = operations_of(traces_of_spans(*spans), 5)
    assert left_out == 0
    assert (operation.service, operation.operation, operation.traces) == ("shop", "GET /", 4)
    assert (operation.p50_ms, operation.p95_ms) == (20.0, 40.0)
    assert [(way.services, way.traces, way.mean_ms) for way in operation.ways] == [(("shop",), 4, 25.0)]
    assert operation.localization.critical is None


def test_operations_with_few_traces_are_counted() -> None:
    ids = ((number).to_bytes(16) for number in range(1, 100))
    spans = [sent(1, "SERVER", 0, 10, trace_id=next(ids), name=name) for name in ("b", "a", "c", "c")]
    operations, left_out = operations_of(traces_of_spans(*spans), 2)
    assert [operation.operation for operation in operations] == ["c", "a"]
    assert left_out == 1


def test_nearest_rank() -> None:
    assert [nearest_rank(np.array([1, 2, 3, 4]), share) for share in (0.0, 0.25, 0.26, 0.5, 1.0)] == [1, 1, 2, 2, 4]


def test_concurrency_over_time_counts_buckets_without_work() -> None:
    start_ms = np.array([1_000, 1_100, 1_500])
    zeros = np.zeros(3)
    line = time_line_of(PoolBuckets(start_ms, np.array([2.0, 4.0, 6.0]), zeros, zeros, zeros, False), points=3)
    assert (line.start_ms, line.step_ms) == (1_000, 200)
    assert (line.mean.tolist(), line.most.tolist()) == ([3.0, 0.0, 3.0], [4.0, 0.0, 6.0])
