"""The two queries of a control period: their text, and their parameters and keys for a set of pools."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

from sluice.clickhouse.table import Table
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance

SQL = files(__package__).joinpath("windows.sql").read_text(encoding="utf-8")
OWN_SQL = files(__package__).joinpath("own_windows.sql").read_text(encoding="utf-8")
# Only with this engine insert numbers are comparable: a replica renumbers the parts that it fetches.
ENGINE_SQL = "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'windows'"
NUMBERED = "ReplacingMergeTree"
# Number of the newest insert, of any pool, that reaches into the window.
NEWEST_SQL = """
    SELECT toInt64(max(_block_number)) FROM windows
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


# From so many pools on, most rows of the table are assumed to be theirs.
MANY = 1_000


OWN_COLUMNS = ("pool UInt32", "service String", "peer String")
KEY_COLUMNS = (
    *("pool UInt32", "last_good Int16", "judges UInt8", "side Enum8('server' = 1, 'client' = 2, 'consumer' = 3)"),
    *("service String", "peer String"),
)


class Key(NamedTuple):
    """A pool, its number in the answer, and the last histogram bucket that counts as in time, for a judged pool."""

    pool: int
    key: PoolKey
    last_good: int


@dataclass(frozen=True)
class BucketSpan:
    """Buckets [first, until), numbered by their length since 1970. The query reads all rows of buckets from
    `known_until` on. Of earlier buckets it reads only rows that came with inserts after number `known_insert`.

    ahead_ms: whole buckets by which clocks of instances are ahead: their rows count as that much earlier.
    """

    first: int
    until: int
    bucket_ms: int
    known_until: int
    known_insert: int = -1
    ahead_ms: Mapping[Instance, int] = field(default_factory=dict)

    def parameters(self, pools: int) -> dict[str, object]:
        """Server-side parameters of `SQL` and `NEWEST_SQL`, for so many pools."""
        return {**self._buckets, "many": pools >= MANY}

    def own_parameters(self, pools: Sequence[PoolKey]) -> dict[str, object]:
        """The parameters of `OWN_SQL`, for pools of one side."""
        services = [key.service for key in pools]
        return {**self._buckets, "side": pools[0].side, "least": min(services), "most": max(services)}

    @property
    def _buckets(self) -> dict[str, object]:
        ahead = [0, *self.ahead_ms.values()]
        return {
            # From the most behind to the most ahead; the query then drops rows outside the bounds of a correct clock.
            "from_ms": self.first * self.bucket_ms + min(ahead),
            "to_ms": self.until * self.bucket_ms + max(ahead),
            "first_ms": self.first * self.bucket_ms,
            "until_ms": self.until * self.bucket_ms,
            "before_ms": self.known_until * self.bucket_ms,
            "off": bool(self.ahead_ms),
            "clocks": [0, *map(clock_of, self.ahead_ms)],
            "ahead": ahead,
            "bucket_ms": self.bucket_ms,
            "first": self.first,
            "seen": self.known_insert,
        }


def keys(requests: list[Key]) -> Table:
    """The parts of each pool: its own rows, and its judges'."""
    rows: list[tuple[int | str, ...]] = []
    for index, key, last_good in requests:
        rows.append((index, last_good, 0, key.side, key.service, key.peer))
        if key.side != "consumer":  # no caller waits for a consumer: only its own spans judge it
            judge = ("client", "", key.service) if key.side == "server" else ("server", key.service, "")
            rows.append((index, last_good, 1, *judge))
    return Table("keys", KEY_COLUMNS, rows)


def own_keys(requests: list[Key]) -> Table:
    """The parts of pools without judges."""
    return Table("keys", OWN_COLUMNS, [(index, key.service, key.peer) for index, key, _ in requests])
