"""Restores a lost journal's revisions of answers, pauses and scaling events from ClickHouse.

Runs once, for a shard without any decision in the journal. Revisions continue from there, so that none names two
answers in the tables, and pauses stay.
"""

from __future__ import annotations

from typing import NamedTuple

from sluice.clickhouse.database import Database
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.inputs.scalings import REMEMBERED

REVISIONS_SQL = "SELECT service, toString(side), peer, max(revision) FROM recommendations GROUP BY service, side, peer"
PAUSES_SQL = """
SELECT
    service, toString(side), peer, toUnixTimestamp64Milli(max(at)), argMax(by, at), argMax(why, at),
    argMax(tuple(size), at).1
FROM pool_pauses GROUP BY service, side, peer HAVING argMax(paused, at)
"""
SCALINGS_SQL = f"""
SELECT service, toUnixTimestamp64Milli(at), cpu_limit_cores, replicas, version, source
FROM (SELECT * FROM scaling_events FINAL ORDER BY service, at DESC LIMIT {REMEMBERED} BY service) ORDER BY service, at
"""


class History(NamedTuple):
    """Newest revision and present pause, by pool; scaling notifications, oldest first by service."""

    revisions: dict[PoolKey, int]
    pauses: dict[PoolKey, Pause]
    scalings: list[Scaling]


def read_history(database: Database) -> History:
    """Reads all three. Raises the database's errors."""
    revisions, pauses, scalings = (
        list(zip(*database.columns(sql, {}), strict=True)) for sql in (REVISIONS_SQL, PAUSES_SQL, SCALINGS_SQL)
    )
    return History(
        {PoolKey(*key): revision for *key, revision in revisions},
        {PoolKey(*key): Pause(at, by, why, size) for *key, at, by, why, size in pauses},
        [Scaling(at, service, *rest) for service, at, *rest in scalings],
    )
