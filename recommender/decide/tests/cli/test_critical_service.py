"""`sluice critical-service` against the real ClickHouse engine with the real schema."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import Result

from migrate.__main__ import schema_up
from support.clickhouse import ClickHouse, clickhouse
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
    assert [reason["code"] for reason in cart["reasons"]] == ["MOVES_WITH_END_TO_END", "CPU_UNKNOWN"]
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


def test_a_database_that_is_down_is_named(run: Run) -> None:
    result = run("critical-service", SLUICE_CLICKHOUSE="http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "cannot reach ClickHouse" in result.stderr
