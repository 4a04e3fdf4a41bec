"""`sluice report --live` on a ClickHouse with two minutes of a small shop."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from sluice_kit.servers.rollups import fill_rollups
from sluice_kit.servers.rows import insert_shop, now

Run = Callable[..., Result]
pytestmark = pytest.mark.integration


@pytest.fixture
def shop(database: Any) -> Any:
    client = database.client("sluice")
    # Windows of the newest 10 s are left out.
    insert_shop(client, now(client) - timedelta(seconds=10))
    fill_rollups(client)
    return database


def test_the_report_is_that_of_a_recording(run: Run, shop: Any, tmp_path: Path) -> None:
    result = run("report", "--live", "-o", "json", SLUICE_CLICKHOUSE=shop.url)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    pools = {(pool["service"], pool["side"], pool["peer"]): pool for pool in report["pools"]}
    assert pools.keys() == {
        ("frontend", "client", "cart"),
        ("frontend", "client", "catalogue"),
        ("cart", "server", ""),
        ("cart", "client", "cart-db"),
        ("catalogue", "server", ""),
        ("catalogue", "client", "catalogue-db"),
    }
    cart = pools["cart", "server", ""]
    # 1 to 8 in flight, 15 ms each, judged by frontend's spans of cart.
    assert (cart["most_in_flight"], cart["judged_by"], cart["instances"]) == (8.0, "callers", ["cart-0"])
    assert cart["p50_ms"] == pytest.approx(15, rel=0.006)
    assert {point["concurrency"] for point in cart["curve"]} == {float(level) for level in range(1, 9)}
    assert {round(point["goodput_per_s"]) for point in cart["curve"]} == {10 * level for level in range(1, 9)}
    assert report["recording"]["end_ms"] - report["recording"]["start_ms"] == 300_000
    assert report["operations"]
    assert all(operation["errors"] is None for operation in report["operations"])
    codes = {finding["code"] for finding in report["quality"]}
    assert {"LEFT_OUT", "SERVER_SPANS_MISSING"} <= codes
    for form in ("text", "html"):
        path = tmp_path / form
        shown = run("report", "--live", "-o", form, "--output-file", path, SLUICE_CLICKHOUSE=shop.url)
        assert shown.exit_code == 0, shown.output
        assert "in the running stack" in path.read_text()


def test_a_threshold_counts_what_is_in_time(run: Run, shop: Any) -> None:
    """Callers see 20 ms up to 4 in flight, 300 ms above."""
    result = run("report", "--live", "--threshold", "100", "--pools", "1", "-o", "json", SLUICE_CLICKHOUSE=shop.url)
    report = json.loads(result.stdout)
    assert (len(report["pools"]), report["pools_left_out"]) == (1, 5)
    result = run("report", "--live", "--threshold", "100", "-o", "json", SLUICE_CLICKHOUSE=shop.url)
    (cart,) = [
        pool for pool in json.loads(result.stdout)["pools"] if (pool["service"], pool["side"]) == ("cart", "server")
    ]
    goodput = {point["concurrency"]: round(point["goodput_per_s"]) for point in cart["curve"]}
    assert goodput == {1: 10, 2: 20, 3: 30, 4: 40, 5: 0, 6: 0, 7: 0, 8: 0}


def test_a_pool_of_the_configuration_has_the_decider_s_answer(run: Run, shop: Any) -> None:
    result = run("report", "--live", "-o", "json", SLUICE_CLICKHOUSE=shop.url)
    columns = ["service", "side", "peer", "state", "current", "target"]
    answers = (
        shop.client("sluice").query("SELECT service, side, peer, state, current, target FROM v_pool_now").result_rows
    )
    assert answers
    pools = {(pool["service"], pool["side"], pool["peer"]): pool for pool in json.loads(result.stdout)["pools"]}
    for answer in answers:
        pool = pools[tuple(answer[:3])]
        assert tuple(pool[name] for name in columns) == answer


def test_a_pool_that_the_decider_no_longer_has_has_no_answer(run: Run, shop: Any) -> None:
    client = shop.client("sluice")
    newest = "SELECT * REPLACE ('DELETED' AS state, at + 1 AS at) FROM recommendations WHERE service = 'cart'"
    client.command(f"INSERT INTO recommendations {newest} ORDER BY at DESC LIMIT 1")
    result = run("report", "--live", "-o", "json", SLUICE_CLICKHOUSE=shop.url)
    assert result.exit_code == 0, result.output
    pools = {(pool["service"], pool["side"]): pool for pool in json.loads(result.stdout)["pools"]}
    assert pools["cart", "server"]["state"] != "DELETED"


def test_files_or_the_stack(run: Run) -> None:
    assert "not both" in run("report").stderr
    assert "not both" in run("report", "x.json", "--live").stderr
    assert "of its own" in run("report", "--live", "--metrics", "m.json").stderr
    result = run("report", "--live", SLUICE_CLICKHOUSE="http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "cannot reach ClickHouse at http://127.0.0.1:9: connection refused. " in result.stderr
