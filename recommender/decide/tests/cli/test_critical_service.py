"""`sluice critical-service` against the real ClickHouse engine with the real schema."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import Result

from migrate.__main__ import schema_up
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

Run = Callable[..., Result]
MS = 10**6
PATHS = [
    *("root_service", "root_operation", "complete", "service", "window_s", "window", "traces"),
    *("self_sum", "self_sum2", "e2e_sum", "e2e_sum2", "self_x_e2e", "upstream_sum", "upstream_sum2"),
    *("self_latency", "upstream_latency", "version"),
]
LATENCY = [
    *(
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
    )
]
WINDOWS = [
    *("side", "service", "peer", "instance", "start", "bucket_ms"),
    *("busy_ns", "busy_buckets", "min_busy_ns", "max_busy_ns", "completions"),
]
SIZES = [
    *("service", "side", "peer", "at", "state", "basis", "action", "current"),
    *("confidence", "threshold_ms", "model", "reasons", "revision"),
]
RESOURCE = [
    *("role", "host", "instance", "metric_rank", "series", "kind", "start_ns", "window", "window_s", "points"),
    *("value_sum", "value_min", "value_max", "first_ns", "last_ns", "version"),
]


def window(age_s: int) -> datetime:
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=age_s)
    return at - timedelta(seconds=at.timestamp() % 10)


def path(service: str, pairs: list[tuple[int, int]], operation: str = "GET /cart", age_s: int = 15) -> list[Any]:
    """pairs: (own, end to end) in ms."""
    x, y = [a * MS for a, _ in pairs], [b * MS for _, b in pairs]
    latency: dict[int, int] = {}
    for ns in x:
        latency[latency_index(ns)] = latency.get(latency_index(ns), 0) + 1
    sums = (sum(x), sum(a * a for a in x), sum(y), sum(b * b for b in y), sum(a * b for a, b in zip(x, y, strict=True)))
    return ["frontend", operation, True, service, 10, window(age_s), len(pairs), *sums, 0, 0, latency, {}, len(pairs)]


def busy(client: Any, service: str, used: float, limit: float) -> None:
    instance, at = f"{service}-1", window(15)
    client.insert(
        "container_latency", [[service, instance, "h", at, 10, 1, 0, 0, 0, {1500: 1}, 1]], column_names=LATENCY
    )
    for role, cores in (("container_cpu", used), ("container_cpu_limit", limit)):
        value, ns = round(cores * 1e9), int(at.timestamp()) * 10**9
        row = [role, "h", instance, 0, role, "level", 0, at, 10, 1, value, value, value, ns, ns, 1]
        client.insert("resource_metrics", [row], column_names=RESOURCE)


def in_flight(client: Any, instance: str, most: float) -> None:
    """Of cart, in buckets of 100 ms; 1 on average."""
    row = ["server", "cart", "", instance, window(25), 100, 10 * 10**9, 100, 0, round(most * 100 * MS), 50]
    client.insert("windows_10s", [row], column_names=WINDOWS)


def in_force(client: Any, size: int | None, age_s: int) -> None:
    at = datetime.now(UTC) - timedelta(seconds=age_s)
    row = ["cart", "server", "", at, "LEARNING", "HELD", "HOLD", size, 0.0, 250.0, "belief", ["BEST"], 1]
    client.insert("recommendations", [row], column_names=SIZES)


FRONT = [(10, 20), (12, 32), (10, 40), (12, 52)] * 10
CART = [(10, 20), (20, 32), (30, 40), (40, 52)] * 10


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        rows = [path("frontend", FRONT), path("cart", CART)]
        rows += [
            path("frontend", FRONT[:8], "GET /"),
            path("cart", CART, age_s=3000),
            path("frontend", FRONT, age_s=3000),
        ]
        server.client("sluice").insert("path_services", rows, column_names=PATHS)
        yield server


@pytest.fixture
def critical(run: Run, engine: ClickHouse) -> Run:
    """Over ten minutes, unless `words` say otherwise: a busy machine must not let the rows grow too old."""
    return lambda *words: run("critical-service", "--seconds", "600", *words, SLUICE_CLICKHOUSE=engine.url)


def ranked(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout))


def test_each_operation_has_its_ranking_and_too_few_traces_have_none(critical: Run) -> None:
    cart, home = ranked(critical("-o", "json"))
    assert (cart["root_operation"], cart["critical_service"], cart["traces"]) == ("GET /cart", "cart", 40)
    first, second = cart["ranking"]
    assert (first["service"], second["service"]) == ("cart", "frontend")
    assert first["correlation"] == pytest.approx(520 / (500 * 544) ** 0.5)
    assert (first["mean_ms"], first["share_of_traces"], first["cpu_utilization"]) == (25.0, 1.0, None)
    assert first["congestion_ratio"] == pytest.approx(2.0, rel=0.022)  # 40 / 20 ms
    assert [reason["code"] for reason in cart["reasons"]] == ["LARGE_SHARE", "MOVES_WITH_END_TO_END", "CPU_UNKNOWN"]
    assert (home["critical_service"], home["ranking"]) == (None, [])
    assert home["reasons"] == [{"code": "TOO_FEW_TRACES", "text": "8 complete traces, 30 are needed"}]


def test_a_root_narrows_it_and_seconds_reach_further_back(critical: Run) -> None:
    (only,) = ranked(critical("-o", "json", "--root", "frontend/GET /cart", "--seconds", "6000"))
    assert only["traces"] == 80
    assert len(ranked(critical("-o", "json", "--root", "frontend"))) == 2


def test_nothing_is_said_to_be_nothing(critical: Run) -> None:
    result = critical("--root", "mail")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no complete critical path of mail in the last 600 s\n"
    assert ranked(critical("--root", "mail", "-o", "json")) == []


def test_a_busy_cpu_comes_first(critical: Run, engine: ClickHouse) -> None:
    client = engine.client("sluice")
    busy(client, "frontend", used=1.8, limit=2)
    busy(client, "cart", used=0.5, limit=2)
    try:
        result = critical("--root", "frontend/GET /cart")
    finally:
        client.command("TRUNCATE TABLE resource_metrics")
    assert result.exit_code == 0, result.output
    head, reason = result.stdout.splitlines()[:2]
    assert head == "frontend/GET /cart: frontend, 40 traces"
    assert reason == "  CPU_HIGH: CPU at 90% of its limit"
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith(("frontend ", "cart "))]
    assert [row[:3] for row in rows] == [["frontend", "90%", "0.51"], ["cart", "25%", "1.00"]]


def test_whose_limit_a_wait_is_for_is_told_by_the_pool_and_what_is_in_flight(critical: Run, engine: ClickHouse) -> None:
    """Of 36 ms on average 18 are a wait before cart: half of the end to end time."""
    client = engine.client("sluice")

    def told() -> tuple[str, str]:
        (ranking,) = ranked(critical("-o", "json", "--root", "waits/GET /cart"))
        (cart,) = (service for service in ranking["ranking"] if service["service"] == "cart")
        reason = cart["reasons"][-1]
        return reason["code"], reason["text"]

    rows = [[*path(service, pairs), waits] for service, pairs, waits in (("waits", FRONT, 0), ("cart", CART, 720 * MS))]
    client.insert("path_services", [["waits", *row[1:]] for row in rows], column_names=[*PATHS, "wait_sum"])
    try:
        assert told()[0] == "THREADS_TAKEN"
        assert "50% of the end to end time, or for connections of its callers: the size of its pool" in told()[1]
        in_force(client, 200, age_s=10)
        in_force(client, None, age_s=5)  # targets differ: nothing is told of sizes
        assert "how many it has in flight is not known" in told()[1]
        in_flight(client, "cart-1", most=2)
        in_flight(client, "cart-2", most=3)
        assert told() == (
            "CALLERS_WAIT",
            "requests wait 50% of the end to end time before they reach it, with 3 of 200 of its threads in flight at "
            "the most, by its spans: the limit is on the callers' side (connections, sockets)",
        )
        in_force(client, 4, age_s=40)  # it was smaller, and may have been full then
        assert told()[0] == "THREADS_TAKEN"
    finally:
        for table in ("recommendations", "windows_10s"):
            client.command(f"TRUNCATE TABLE {table}")
        client.command("ALTER TABLE path_services DELETE WHERE root_service = 'waits' SETTINGS mutations_sync = 2")


def test_a_database_that_is_down_is_named(run: Run) -> None:
    result = run("critical-service", SLUICE_CLICKHOUSE="http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "cannot reach ClickHouse" in result.stderr
