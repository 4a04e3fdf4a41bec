"""Views of what is newest, on rows that were just written, and on more than the shop's."""

from datetime import timedelta

import pytest
from clickhouse_connect.driver.client import Client

from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.rows import MS, insert_shop, now, rows
from testbed.windows import latency_index


@pytest.fixture
def reader(engine: ClickHouse, database: str, client: Client) -> Client:
    insert_shop(client, now(client))
    return engine.client(database, user="sluice_reader")


def test_pool_now_is_the_newest_answer(reader: Client) -> None:
    got = {(row["service"], row["side"], row["peer"]): row for row in rows(reader, "SELECT * FROM v_pool_now")}
    cart, catalogue = got["cart", "server", ""], got["catalogue", "client", "catalogue-db"]
    assert (cart["state"], cart["current"], cart["target"], cart["revision"]) == ("PROVIDED", 64, 6, 2)
    assert (catalogue["state"], catalogue["target"], catalogue["lower_bound"]) == ("UNSATURATED", 8, None)
    # written 1 s before `now`
    assert 1 <= cart["age_s"] < 20
    assert len(got) == 2


def test_call_graph_is_each_edge_in_its_newest_window(client: Client, reader: Client) -> None:
    newest = rows(client, "SELECT max(window) AS at FROM call_edges")[0]["at"]
    old = newest - timedelta(hours=1)
    client.insert(
        "call_edges",
        [
            ["frontend", "cart", newest, 10, 500, 50, {latency_index(20 * MS): 490, latency_index(300 * MS): 10}, 500],
            ["cart", "mail", old, 10, 1, 0, {latency_index(1 * MS): 1}, 1],
        ],
        column_names=["caller", "callee", "window", "window_s", "calls", "errors", "latency", "version"],
    )
    got = {(row["caller"], row["callee"]): row for row in rows(reader, "SELECT * FROM v_call_graph")}
    cart, mail = got["frontend", "cart"], got["cart", "mail"]
    assert (cart["calls"], cart["rate_per_s"], cart["error_ratio"]) == (500, 50.0, 0.1)
    assert cart["p50_ms"] == pytest.approx(20, rel=0.0055 * 2)
    assert cart["p99_ms"] == pytest.approx(300, rel=0.0055 * 2)
    assert mail["age_s"] - cart["age_s"] == 3600
    assert len(got) == 5


def test_call_tree_is_the_most_frequent_of_the_newest_windows(client: Client, reader: Client) -> None:
    newest = rows(client, "SELECT max(window) AS at FROM call_trees")[0]["at"]
    later, old = newest + timedelta(seconds=10), newest - timedelta(minutes=5)
    client.insert(
        "call_trees",
        [
            ["frontend", "GET /", later, 10, "z", 100, 100],  # 12 windows with 30 of another tree, and 10 of a third
            ["frontend", "GET /", old + timedelta(seconds=10), 10, "old", 999, 999],  # 5 minutes before
            ["frontend", "PUT /", newest, 10, "e", 1, 1],
            [
                "frontend",
                "PUT /",
                newest,
                10,
                '{"service":"frontend","cut":true,"other":true}',
                9,
                9,
            ],  # many that differ
            ["frontend", "POST /", newest, 10, "b", 2, 2],
            ["frontend", "POST /", newest, 10, "b", 7, 7],
            ["frontend", "POST /", newest, 10, "c", 4, 4],
            ["frontend", "POST /", later, 10, "a", 6, 6],
            ["frontend", "POST /", later, 10, "c", 3, 3],
        ],
        column_names=["root_service", "root_operation", "window", "window_s", "tree", "traces", "version"],
    )
    got = {row["root_operation"]: row for row in rows(reader, "SELECT * FROM v_call_tree")}
    get, post = got["GET /"], got["POST /"]
    assert '"operation":"read"},{"service":"catalogue"' in get["tree"]  # one stage
    assert (get["tree_traces"], get["total_traces"]) == (360, 360 + 120 + 100)
    assert get["share"] == pytest.approx(360 / 580)
    assert (post["tree"], post["tree_traces"], post["total_traces"]) == ("b", 7, 20)
    assert (post["share"], post["newest_window"]) == (0.35, later)
    assert (got["PUT /"]["tree"], got["PUT /"]["share"]) == ("e", 0.1)
    assert len(got) == 3


def test_stage_lag(reader: Client) -> None:
    lag = {row["stage"]: row["lag_ms"] for row in rows(reader, "SELECT * FROM v_stage_lag")}
    assert lag["emit to kafka"] == 270  # 4000 spans of 250 ms, 1000 of 350 ms
    assert lag["kafka to clickhouse"] == 700
    assert lag["recommendation data"] == 1800
    assert 0 <= lag["newest window"] < 20_000
    assert lag["recommendation"] == pytest.approx(lag["newest window"] + 1000, abs=1)


def test_stage_lag_of_an_empty_store_is_unknown_not_zero(client: Client) -> None:
    lag = {row["stage"]: row["lag_ms"] for row in rows(client, "SELECT * FROM v_stage_lag")}
    assert len(lag) == 5
    assert set(lag.values()) == {None}
