"""`sluice actuations list | show | rollback` against the real ClickHouse engine and its schema."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import Result

from migrate.__main__ import schema_up
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_STALE, PoolSize, TargetSize
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse

from .pool_server import PoolServer

pytestmark = pytest.mark.integration

Run = Callable[..., Result]
CART = Pool(service="cart", side=SIDE_SERVER)
COLUMNS = (
    "service side peer at target_name actuator outcome requested previous read_back revision instance by request_id"
    " log_partition log_offset"
)
AT = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)


def report(id_: str, at_s: int, outcome: str, previous: int | None, read_back: int | None, by: str = "") -> list[Any]:
    requested = None if outcome == "OBSERVED" else 12
    at = AT + timedelta(seconds=at_s)
    return [
        "cart",
        "server",
        "",
        at,
        "tomcat",
        "agent",
        outcome,
        requested,
        previous,
        read_back,
        7,
        "cart-1",
        by,
        id_,
        0,
        40 + at_s,
    ]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        rows = [
            report("aa11", 0, "OBSERVED", None, 64),
            report("ab22", 1, "APPLIED", 64, 32, by="ann"),
            report("cd33", 2, "FAILED", 32, 32),
        ]
        server.client("sluice").insert("actuations", rows, column_names=COLUMNS.split())
        yield server


@pytest.fixture
def asked(pool_server: PoolServer) -> PoolServer:
    decision = PoolSize(pool=CART, sizes=[TargetSize(instance="cart-0", size=32)])
    pool_server.explanations = [Explanation(pool_size=decision)]
    return pool_server


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout))


def test_newest_first_with_what_each_did(run: Run, engine: ClickHouse) -> None:
    printed = rows(run("actuations", "list", "-o", "json", SLUICE_CLICKHOUSE=engine.url))
    assert [row["request_id"] for row in printed] == ["cd33", "ab22", "aa11"]
    applied = printed[1]
    sizes = [applied[name] for name in ("previous", "intended", "requested", "read_back")]
    assert (sizes, applied["by"]) == ([64, None, 12, 32], "ann")  # no decision is recorded here
    assert (applied["log_partition"], applied["log_offset"]) == (0, 41)
    shown = run("actuations", "list", "--pool", "cart", "--limit", "2", SLUICE_CLICKHOUSE=engine.url).stdout
    assert [line.split()[2] for line in shown.splitlines()[1:]] == ["cd33", "ab22"]
    assert run("actuations", "list", "--pool", "x", SLUICE_CLICKHOUSE=engine.url).stdout == "nothing is recorded\n"


def test_one_by_as_much_of_its_id_as_is_no_others(run: Run, engine: ClickHouse) -> None:
    assert "APPLIED" in run("actuations", "show", "ab", SLUICE_CLICKHOUSE=engine.url).stdout
    for id_, why in (("a", "more than one report begins with 'a': ab22, aa11"), ("x", "no report begins with 'x'")):
        result = run("actuations", "show", id_, SLUICE_CLICKHOUSE=engine.url)
        assert result.exit_code == 1
        assert why in result.output


def test_a_rollback_holds_the_pool_at_the_size_before(run: Run, engine: ClickHouse, asked: PoolServer) -> None:
    where = {"SLUICE_CLICKHOUSE": engine.url, "SLUICE_RECOMMENDER": asked.address}
    dry = run("actuations", "rollback", "ab22", "--dry-run", **where)
    assert dry.stdout.startswith("would set cart/server to 64, as before ab22 (64 -> 32 at ")
    assert asked.paused == []
    done = run("actuations", "rollback", "ab22", "--why", "p99 is up", "--by", "eve", **where)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("until `sluice pools resume cart/server`\n")
    (request,) = asked.paused
    assert (request.pool, request.size, request.by, request.why) == (CART, 64, "eve", "rollback of ab22: p99 is up")


@pytest.mark.parametrize(
    ("without", "why"),
    [
        ("decision", "nothing is written yet: the newest decision is old (-); the write follows the next one"),
        ("actuator", "nothing is written yet: no actuator reports the pool; the write follows its first report"),
    ],
)
def test_a_rollback_tells_what_its_write_waits_for(
    run: Run, engine: ClickHouse, asked: PoolServer, without: str, why: str
) -> None:
    decision = asked.explanations[0].pool_size
    decision.state = STATE_STALE
    if without == "actuator":
        del decision.sizes[:]
    where = {"SLUICE_CLICKHOUSE": engine.url, "SLUICE_RECOMMENDER": asked.address}
    assert run("actuations", "rollback", "ab22", **where).stdout.splitlines()[1:] == [why]
    assert len(asked.paused) == 1


def test_what_changed_nothing_cannot_be_taken_back(run: Run, engine: ClickHouse, asked: PoolServer) -> None:
    for id_ in ("aa11", "cd33"):
        where = {"SLUICE_CLICKHOUSE": engine.url, "SLUICE_RECOMMENDER": asked.address}
        result = run("actuations", "rollback", id_, **where)
        assert result.exit_code == 1
        assert "nothing to roll back to" in result.output
    assert asked.paused == []
