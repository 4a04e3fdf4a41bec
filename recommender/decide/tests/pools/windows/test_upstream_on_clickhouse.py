"""The query for upstream times on the real engine, against paths whose sums are worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.windows import Collector
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

NOW_MS = 1_800_000_000_000  # a whole window of 10 s
MS = 10**6
CART = UpstreamRequest(PoolKey("cart", "server", ""), "home")
DB = UpstreamRequest(PoolKey("catalogue", "client", "catalogue-db"), "home")
COLUMNS = [
    *("root_service", "root_operation", "complete", "service", "window_s", "window", "traces"),
    *("self_sum", "self_sum2", "e2e_sum", "e2e_sum2", "self_x_e2e", "upstream_sum", "upstream_sum2"),
    *("self_latency", "upstream_latency", "version"),
]
WAITS = ["call_upstream_sum", "call_upstream_latency"]


def path(
    age_s: int, service: str, upstream_ms: dict[int, int], operation: str = "GET /", *, complete: bool = True
) -> list[Any]:
    """upstream_ms: traces by what stood above the service; the version is their number."""
    traces = sum(upstream_ms.values())
    window = datetime.fromtimestamp(NOW_MS / 1000 - age_s, UTC)
    histogram = {latency_index(ms * MS): n for ms, n in upstream_ms.items()}
    sums = (0, 0, 0, 0, 0, sum(ms * n for ms, n in upstream_ms.items()) * MS, 0)
    return ["frontend", operation, complete, service, 10, window, traces, *sums, {}, histogram, traces]


def config(statistic: str = "mean", operation: str | None = None, window: str = "60s") -> Config:
    """Cart by the statistic, catalogue's connections by the median; a third pool asks for nothing."""
    upstream = {"from": "traces", "statistic": statistic, "window": window}
    median = {"from": "traces", "statistic": "p50"}
    slo = {"name": "home", "service": "frontend", "latency": "250ms"} | ({"operation": operation} if operation else {})
    return Config.model_validate(
        {
            "slos": [slo],
            "pools": [
                {"service": "orders", "side": "server", "slo": "home", "upstream": "5ms"},
                {"service": "cart", "side": "server", "slo": "home", "upstream": upstream},
                {"service": "catalogue", "side": "client", "peer": "catalogue-db", "slo": "home", "upstream": median},
            ],
        }
    )


def waited(row: list[Any], call_upstream_ms: dict[int, int]) -> list[Any]:
    """The same without the wait for the service's threads."""
    histogram = {latency_index(ms * MS): n for ms, n in call_upstream_ms.items()}
    return [*row, sum(ms * n for ms, n in call_upstream_ms.items()) * MS, histogram]


@pytest.fixture
def upstream(database: Any) -> Any:
    def run(given: Config, *rows: list[Any]) -> dict[UpstreamRequest, UpstreamTime]:
        for row in rows:
            names = [*COLUMNS, *WAITS][: len(row)]
            database.client("sluice").insert("path_services", [row], column_names=names)
        return Collector(ClickHouse(database.url, READER)).upstream(given, NOW_MS)

    return run


def test_each_pool_gets_its_own_statistic_in_one_query(upstream: Any) -> None:
    found = upstream(
        config(),
        path(20, "cart", {10: 10}),
        path(20, "cart", {10: 15, 30: 5}),  # a newer version of the same window
        path(40, "cart", {20: 20}, "GET /cart"),
        path(20, "catalogue", {8: 30, 90: 10}),
        path(20, "orders", {8: 30}),
    )
    # Cart: (15 x 10 + 5 x 30 + 20 x 20) / 40 = 17.5 ms. The median of catalogue's is 8 ms, within its bucket.
    assert found[CART] == UpstreamTime(17.5, 40)
    assert (found[DB].value_ms, found[DB].traces) == (pytest.approx(8, rel=0.011), 40)
    assert found.keys() == {CART, DB}


@pytest.mark.parametrize("statistic", ["mean", "p50"])
def test_a_wait_for_a_services_threads_is_above_neither_its_threads_nor_its_connections(
    upstream: Any, statistic: str
) -> None:
    """55 ms above catalogue, 40 of them a wait for its threads, which may wait for its connections."""
    asked = {"from": "traces", "statistic": statistic}
    slo = {"name": "home", "service": "frontend", "latency": "255ms"}
    threads = {"service": "catalogue", "side": "server", "slo": "home", "upstream": asked}
    connections = {"service": "catalogue", "side": "client", "peer": "catalogue-db", "slo": "home", "upstream": asked}
    given = Config.model_validate({"slos": [slo], "pools": [threads, connections]})
    found = upstream(given, waited(path(20, "catalogue", {55: 20}), {15: 20}))
    assert found[UpstreamRequest(PoolKey("catalogue", "server", ""), "home")].value_ms == pytest.approx(15, rel=0.011)
    assert found[DB].value_ms == pytest.approx(15, rel=0.011)


def test_a_pool_with_an_slo_is_asked_for_by_default(upstream: Any) -> None:
    pool = {"service": "cart", "side": "server", "slo": "home"}
    given = Config.model_validate({"slos": [{"name": "home", "service": "frontend", "latency": "1s"}], "pools": [pool]})
    assert upstream(given, path(20, "cart", {10: 20}))[CART].traces == 20


@pytest.mark.parametrize(("statistic", "ms"), [("p50", 10), ("p90", 10), ("p95", 50), ("p99", 50)])
def test_quantiles_by_nearest_rank(upstream: Any, statistic: str, ms: int) -> None:
    found = upstream(config(statistic), path(20, "cart", {10: 94, 50: 6}))
    assert found[CART].value_ms == pytest.approx(ms, rel=0.011)


def test_an_operation_of_the_slo_is_the_only_root_that_counts(upstream: Any) -> None:
    rows = (path(20, "cart", {10: 20}), path(20, "cart", {50: 30}, "GET /cart"))
    assert upstream(config(operation="GET /"), *rows)[CART] == UpstreamTime(10.0, 20)
    assert upstream(config())[CART] == UpstreamTime(34.0, 50)  # (20 x 10 + 30 x 50) / 50


@pytest.mark.parametrize(
    ("slo", "mean_ms"),
    [
        ({"service": "front*", "operation": "GET /*"}, 34.0),
        ({"service": "frontend", "operation": "*t"}, 50.0),
        ({"service": "*", "operation": "GET /"}, 10.0),
        ({"service": "f%", "operation": "GET _"}, None),
        ({"service": "front_nd"}, None),
    ],
)
def test_patterns_name_roots(upstream: Any, slo: dict[str, str], mean_ms: float | None) -> None:
    rows = (path(20, "cart", {10: 20}), path(20, "cart", {50: 30}, "GET /cart"))
    pool = {"service": "cart", "side": "server", "slo": "home", "upstream": {"from": "traces", "statistic": "mean"}}
    found = upstream(Config.model_validate({"slos": [slo | {"name": "home", "latency": "1s"}], "pools": [pool]}), *rows)
    assert (found[CART].value_ms if found else None) == mean_ms


def test_a_pool_that_two_operations_share_knows_what_each_has_above_it(upstream: Any) -> None:
    """Cart is called by GET / with 10 ms above it and by POST /orders with 70 ms; the SLO of nobody else counts."""
    slos = [
        {"name": "home", "service": "frontend", "operation": "GET /", "latency": "100ms"},
        {"name": "orders", "service": "frontend", "operation": "POST /orders", "latency": "250ms"},
        {"name": "admin", "service": "frontend", "operation": "GET /admin", "latency": "2s"},
    ]
    pool = {"service": "cart", "side": "server", "slo": ["home", "orders", "admin"]}
    mean = {"from": "traces", "statistic": "mean"}
    given = Config.model_validate({"slos": slos, "pools": [pool | {"upstream": mean}]})
    rows = (path(20, "cart", {10: 90}), path(20, "cart", {60: 20, 80: 20}, "POST /orders"))
    assert upstream(given, *rows) == {
        CART: UpstreamTime(10.0, 90),
        UpstreamRequest(CART.pool, "orders"): UpstreamTime(70.0, 40),
    }


def test_old_windows_orphans_and_handfuls_do_not_count(upstream: Any) -> None:
    aged = (path(60, "cart", {10: 20}), path(70, "cart", {90: 100}))  # of the last 60 s, and just before
    assert upstream(config(), *aged, path(20, "cart", {90: 40}, complete=False))[CART] == UpstreamTime(10.0, 20)
    assert upstream(config(), path(20, "catalogue", {8: 19})).keys() == {CART}  # one trace short of 20
    assert upstream(config(window="2m"))[CART].traces == 120


def test_nobody_is_asked_for_pools_that_ask_for_nothing() -> None:
    given = config().model_copy(update={"pools": config().pools[:1]})
    assert Collector(ClickHouse("http://127.0.0.1:1", READER)).upstream(given, NOW_MS) == {}
