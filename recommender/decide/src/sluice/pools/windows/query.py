"""The queries of a control period for windows: their text, parameters and keys, and the new rows that they return."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from sluice.clickhouse.database import ArrayDatabase
from sluice.clickhouse.table import Table
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance
from sluice.pools.windows.new_rows import NewRows, new_rows_of, own_rows_of

SQL = files(__package__).joinpath("windows.sql").read_text(encoding="utf-8")
OWN_SQL = files(__package__).joinpath("own_windows.sql").read_text(encoding="utf-8")
# Only with this engine insert numbers are comparable: a replica renumbers the parts that it fetches.
ENGINE_SQL = "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'windows'"
NUMBERED = "ReplacingMergeTree"
# Number of the newest insert, of any pool, that reaches into the window, 0 without any; and how many rows are new.
NEWS_SQL = """
    SELECT
        toInt64(max(_block_number)),
        countIf(_block_number > {seen:Int64} OR toUnixTimestamp64Milli(bucket) >= {news_ms:Int64})
    FROM windows
    WHERE bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
      AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC') AND bucket_ms = {bucket_ms:UInt16}
"""


def clock_of(instance: Instance) -> int:
    """The number of an instance's clock in `SQL` and `OWN_SQL`."""
    return (3 * source_of(instance.service) + source_of(instance.instance)) % 2**64


def source_of(instance: str) -> int:
    """The number of an instance among a pool's own rows in the answer of `SQL`: halfMD5 of its name."""
    digest = hashlib.md5(instance.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "big")


# Before any insert.
NEVER = -1
# From so many pools on, where they are at least half of all that are read, most rows of the table are assumed to be
# theirs. A fifth of 10,000 pools took 6.9 s where each row was joined, and 3.0 s where most were left out before.
MANY = 1_000


_KEY = ("side Enum8('server' = 1, 'client' = 2, 'consumer' = 3)", "service String", "peer String")
OWN_COLUMNS = ("pool UInt32", *_KEY)
KEY_COLUMNS = ("pool UInt32", "last_good Int16", "judges UInt8", *_KEY)


Request = tuple[int, PoolKey, int]
"""The number of a pool in the answer, its key, and the last histogram bucket that counts as in time; for a judged
pool."""


@dataclass(frozen=True)
class WindowQuery:
    """The queries of one period, for the rows of the buckets [first, until), numbered by their length since 1970.

    ahead_ms: whole buckets by which clocks of instances are ahead: their rows count as that much earlier.
    callees: pools without judges are all that a service calls. pools: how many are read, by all queries.
    """

    first: int
    until: int
    bucket_ms: int
    ahead_ms: Mapping[Instance, int] = field(default_factory=dict)
    callees: bool = False
    pools: int = 0

    def new_rows(
        self, database: ArrayDatabase, requests: Sequence[Request], judged: bool, known_until: int, known_insert: int
    ) -> NewRows:
        """All rows of buckets from `known_until` on; of earlier buckets only rows that came with inserts after number
        `known_insert`. judged: whether all of these pools have thresholds; else none has."""
        if judged:
            parameters = self.parameters(len(requests), known_until, known_insert)
            return new_rows_of(database.arrays(SQL, parameters, keys(requests)), self.first)
        parameters = self._own_parameters([key for _, key, _ in requests], known_until, known_insert)
        return own_rows_of(database.arrays(OWN_SQL, parameters, own_keys(requests)), self.first)

    def news(self, database: ArrayDatabase, known_until: int, known_insert: int) -> tuple[int, int]:
        """The number of the newest insert, of any pool, that reaches into these buckets, 0 without any. And how many
        rows, of any pool, are new as for `new_rows`; or may be, where clocks are off."""
        (newest,), (new,) = database.columns(NEWS_SQL, self.parameters(0, known_until, known_insert))
        return int(newest), int(new)

    def parameters(self, pools: int, known_until: int, known_insert: int) -> dict[str, object]:
        """Server-side parameters of `SQL` and `NEWS_SQL`, for so many pools."""
        return {**self._buckets(known_until, known_insert), "many": pools >= max(MANY, self.pools / 2)}

    def _own_parameters(self, pools: Sequence[PoolKey], known_until: int, known_insert: int) -> dict[str, object]:
        """The parameters of `OWN_SQL`."""
        services, sides = [key.service for key in pools], sorted({key.side for key in pools})
        bounds = {"sides": sides, "least": min(services), "most": max(services), "callees": self.callees}
        return {**self._buckets(known_until, known_insert), **bounds}

    def _buckets(self, known_until: int, known_insert: int) -> dict[str, object]:
        ahead = [0, *self.ahead_ms.values()]
        return {
            # From the most behind to the most ahead; the query then drops rows outside the bounds of a correct clock.
            "from_ms": self.first * self.bucket_ms + min(ahead),
            "to_ms": self.until * self.bucket_ms + max(ahead),
            "first_ms": self.first * self.bucket_ms,
            "until_ms": self.until * self.bucket_ms,
            "before_ms": known_until * self.bucket_ms,
            "news_ms": known_until * self.bucket_ms + min(ahead),
            "off": bool(self.ahead_ms),
            "clocks": [0, *map(clock_of, self.ahead_ms)],
            "ahead": ahead,
            "bucket_ms": self.bucket_ms,
            "first": self.first,
            "seen": known_insert,
        }


def keys(requests: Sequence[Request]) -> Table:
    """The parts of each pool: its own rows, and its judges'."""
    rows: list[tuple[int | str, ...]] = []
    for index, key, last_good in requests:
        rows.append((index, last_good, 0, key.side, key.service, key.peer))
        if key.side != "consumer":  # no caller waits for a consumer: only its own spans judge it
            judge = ("client", "", key.service) if key.side == "server" else ("server", key.service, "")
            rows.append((index, last_good, 1, *judge))
    return Table("keys", KEY_COLUMNS, rows)


def own_keys(requests: Sequence[Request]) -> Table:
    """The parts of pools without judges."""
    return Table("keys", OWN_COLUMNS, [(index, key.side, key.service, key.peer) for index, key, _ in requests])
