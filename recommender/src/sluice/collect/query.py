"""The query of one control period: its text, and its parameters and keys for a set of pools."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from sluice.collect.latency import last_index_within
from sluice.config import PoolKey

SQL = files(__package__).joinpath("windows.sql").read_text(encoding="utf-8")

# The reading user gets at most a million rows as a result.
MAX_ROWS = 900_000


class Request(NamedTuple):
    """A pool and the threshold that judges its completions."""

    key: PoolKey
    threshold_ns: int


class Table(NamedTuple):
    """A table that is sent along with a query: a few thousand keys are more than fits a parameter.

    columns: name and type of each, as ClickHouse writes them.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[int | str, ...]]


KEY_COLUMNS = (
    *("pool UInt32", "last_good Int16", "judges UInt8", "side Enum8('server' = 1, 'client' = 2)"),
    *("service String", "peer String"),
)


def parameters(from_ms: int, to_ms: int, bucket_ms: int) -> dict[str, object]:
    """Server-side parameters of `SQL`. from_ms and to_ms: Unix time, half open, by the start of a bucket."""
    return {"from_ms": from_ms, "to_ms": to_ms, "bucket_ms": bucket_ms}


def keys(requests: list[Request]) -> Table:
    """The parts that belong to each pool; `pool` in the result is the index into `requests`."""
    rows: list[tuple[int | str, ...]] = []
    for index, (key, threshold_ns) in enumerate(requests):
        last_good = last_index_within(threshold_ns)
        judge = ("client", "", key.service) if key.side == "server" else ("server", key.service, "")
        rows.append((index, last_good, 0, key.side, key.service, key.peer))
        rows.append((index, last_good, 1, *judge))
    return Table("keys", KEY_COLUMNS, rows)


def pools_per_query(from_ms: int, to_ms: int, bucket_ms: int) -> int:
    """How many pools one result holds: a row for each bucket of each. Worked: 72 s of 100 ms -> 1,250 pools."""
    return max(1, MAX_ROWS // max(1, (to_ms - from_ms) // bucket_ms))
