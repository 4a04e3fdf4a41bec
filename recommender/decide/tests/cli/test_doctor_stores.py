"""`sluice doctor` of ClickHouse and Neo4j: answers judged by hand, and a real small server."""

import time
from datetime import UTC, datetime

import pytest

from sluice.cli.doctor import clickhouse, neo4j
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.environment import addresses

from .http_server import FixedServer

NOW_S = datetime(2026, 3, 1, 12, 0, tzinfo=UTC).timestamp()


def test_clickhouse_judgements() -> None:
    known = {1: "0001_a.sql", 2: "0002_b.sql"}
    assert clickhouse.judge_migrations(known, {1, 2}).level == "ok"
    assert clickhouse.judge_migrations(known, {1}).text == "not applied: 0002_b.sql"
    assert clickhouse.judge_migrations(known, {1, 2, 3}).level == "warn"
    assert clickhouse.judge_freshness(0, 0, NOW_S).level == "warn"
    assert clickhouse.judge_freshness(1, NOW_S - 29, NOW_S).level == "ok"
    assert clickhouse.judge_freshness(1, NOW_S - 31, NOW_S).level == "warn"
    ahead = clickhouse.judge_freshness(1, NOW_S + 20, NOW_S)
    assert (ahead.level, "20 s ahead" in ahead.text) == ("ok", True)
    assert clickhouse.judge_dead_letters([("x", 0, 0)]).level == "ok"


def test_neo4j_judgement() -> None:
    assert neo4j.judge_edges(0, None, NOW_S).level == "warn"
    assert neo4j.judge_edges(5, NOW_S - 15, NOW_S) == Diagnosis("ok", "5 CALLS edges, newest window began 15 s ago")


def test_neo4j_over_http() -> None:
    path = "/db/neo4j/tx/commit"
    row = [7, time.time() - 15]
    with FixedServer({path: {"results": [{"columns": [], "data": [{"row": row}]}], "errors": []}}) as server:
        where = addresses({"SLUICE_NEO4J": f"bolt://{server.address}", "SLUICE_NEO4J_HTTP": server.url})
        assert neo4j.edges(where, 5) == Diagnosis("ok", "7 CALLS edges, newest window began 15 s ago")
        server.answers[path] = {"results": [], "errors": [{"code": "x", "message": "database\nis away"}]}
        assert neo4j.edges(where, 5).text.endswith("answered: database is away")
        server.answers[path] = (401, "{}")
        assert neo4j.edges(where, 5).remedy == "set SLUICE_NEO4J_PASSWORD"
        server.answers[path] = "<html>"
        assert neo4j.edges(where, 5).level == "fail"
        bolt_only = addresses({"SLUICE_NEO4J": f"bolt://{server.address}", "SLUICE_NEO4J_HTTP": "none"})
        assert neo4j.edges(bolt_only, 5).level == "ok"
        elsewhere = addresses({"SLUICE_NEO4J": f"bolt://{server.address}", "SLUICE_NEO4J_HTTP": "http://10.0.0.1:7474"})
        with pytest.raises(NotAnsweringError, match="another host"):
            neo4j.edges(elsewhere, 5)
