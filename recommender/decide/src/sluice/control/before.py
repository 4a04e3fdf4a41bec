"""Takes up from ClickHouse what a lost log held: revisions of answers, pauses and scaling events.

Asked once, where a shard was never decided in the log that there is. Revisions go on from there, so that none stands
for two answers in what analysts have; pauses hold on.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from sluice.control.scalings import REMEMBERED
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling

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


class Database(Protocol):
    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """Of the result; raises when the database cannot answer."""
        ...


class Before(NamedTuple):
    """By pool the newest revision, and the pause that it is in; what was told of scaling, oldest first by service."""

    revisions: dict[PoolKey, int]
    pauses: dict[PoolKey, Pause]
    scalings: list[Scaling]


def before(database: Database) -> Before:
    """Raises what the database raises."""
    revisions, pauses, scalings = (
        list(zip(*database.columns(sql, {}), strict=True)) for sql in (REVISIONS_SQL, PAUSES_SQL, SCALINGS_SQL)
    )
    return Before(
        {PoolKey(*key): revision for *key, revision in revisions},
        {PoolKey(*key): Pause(at, by, why, size) for *key, at, by, why, size in pauses},
        [Scaling(at, service, *rest) for service, at, *rest in scalings],
    )
