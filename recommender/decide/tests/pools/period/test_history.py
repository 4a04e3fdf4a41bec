"""Revisions, pauses and scaling of a log that is lost."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.period.history import History, read_history
from sluice_kit.decide.fakes import CART, DB, hump
from sluice_kit.decide.worlds import World
from sluice_kit.servers import clickhouse

TOLD = Scaling(5_000, "cart", 2.0, 3, "v2", "vpa")
KNOWN = History({CART: 41, PoolKey("gone", "server", ""): 9}, {CART: Pause(1, "ada", "release")}, [TOLD])


def test_a_log_that_was_never_written_goes_on_from_the_tables_once() -> None:
    asked = []
    world = World()

    def history() -> History:
        asked.append(1)
        if len(asked) == 1:
            raise ConnectionError("down")
        return KNOWN

    world.decider._history = history
    world.collector.pools[CART] = hump()
    world.clock.pass_s(5)
    world.loop.periods()
    assert CART not in world.decider.answers  # without it a revision would be given out again
    assert (world.step().content.state, world.cart.revision) == ("PAUSED", 42)
    assert world.decider.answers[DB].revision == 1
    assert (world.cart.deployments.own.cores, world.cart.deployments.own.version) == (2.0, "v2")
    world.step()
    assert len(asked) == 2
    after = World(log=world.log, collector=world.collector)
    assert (after.step().content.state, after.cart.revision) == ("PAUSED", 42)
    assert after.cart.deployments.own.version == "v2"


@pytest.mark.integration
def test_what_the_tables_have(database: clickhouse.ClickHouse) -> None:
    client = database.client("sluice")
    reader = ClickHouse(database.url, READER)
    assert read_history(reader) == History({}, {}, [])
    now_s = int(time.time())
    at = [datetime.fromtimestamp(now_s - 30 + second, UTC) for second in (10, 20, 30)]
    pool, db = ["cart", "server", ""], ["catalogue", "client", "catalogue-db"]
    columns = ["service", "side", "peer", "at", "revision"]
    client.insert("recommendations", [[*pool, at[0], 7], [*pool, at[1], 8], [*db, at[0], 3]], column_names=columns)
    told = [[*pool, at[0], True, "ada", "a"], [*pool, at[1], True, "ada", "b"], [*db, at[0], True, "ada", "c"]]
    columns = ["service", "side", "peer", "at", "paused", "by", "why"]
    client.insert("pool_pauses", [*told, [*db, at[2], False, "ada", "d"]], column_names=columns)
    columns = ["service", "at", "cpu_limit_cores", "replicas", "version", "source"]
    client.insert("scaling_events", [["cart", at[0], 2.0, 3, "v2", "vpa"]], column_names=columns)
    found = read_history(reader)
    assert found.revisions == {CART: 8, DB: 3}
    assert found.pauses == {CART: Pause(1_000 * (now_s - 10), "ada", "b")}
    assert found.scalings == [Scaling(1_000 * (now_s - 20), "cart", 2.0, 3, "v2", "vpa")]
