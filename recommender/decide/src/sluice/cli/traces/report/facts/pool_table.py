"""The metrics that hold figures of a pool: the table `pools.csv` of the streaming jobs, and what its rows make of a
point. The rules are those of PoolPoints.java and PoolPeer.java."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sluice.cli.traces.report.facts.addresses import located, written
from sluice.cli.traces.report.facts.attributes import NAMESPACE, cut

#: The levels of a pool; the report reads no counters.
LEVELS = frozenset({"size", "used", "pending"})
#: A level that its sender does not know, and a size that is no limit.
UNKNOWN, UNLIMITED = -1, 2**31 - 1
_DATABASE = re.compile(r"(?:^|;)\s*(?:database|initial catalog|dbname)\s*=\s*([^;]+)", re.IGNORECASE)
_PATH = re.compile(r"[^?#;]*")
Texts = Mapping[str, str]


class PoolRow(NamedTuple):
    """A row of the table. names, value: the attribute that a point must have; no name: every point passes. pool_names:
    the attributes that name the pool, the best first."""

    figure: str
    side: str
    rank: int
    names: tuple[str, ...]
    value: str
    pool_names: tuple[str, ...]

    def passes(self, attributes: Texts) -> bool:
        return not self.names or any(attributes.get(name) == self.value for name in self.names)

    def pool(self, attributes: Texts) -> str:
        """The pool's name; JMX quotes it."""
        name = first(attributes, self.pool_names)
        return cut(name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name)

    def known(self, value: float) -> int | None:
        """The value of a point; None where its sender does not know it."""
        if value != value or value == UNKNOWN:
            return None
        return 0 if self.figure == "size" and value == UNLIMITED else round(value)


PoolTable = Mapping[str, list[PoolRow]]


def read_table(path: Path) -> PoolTable:
    """The rows of levels by metric. Raises OSError."""
    table: dict[str, list[PoolRow]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(line for line in file if line.strip() and not line.startswith("#")):
            names, _, value = row["attribute"].partition("=")
            if row["figure"] in LEVELS:
                table.setdefault(row["metric"], []).append(
                    PoolRow(row["figure"], row["side"], int(row["rank"]), split(names), value, split(row["pool"]))
                )
    return table


def peer_of(attributes: Texts, pool: str) -> str:
    """The peer of a connection pool, as its spans name it: by attributes, else by an address in the pool's name; ""
    where neither has one."""
    namespace = first(attributes, NAMESPACE)
    if address := first(attributes, ("server.address", "net.peer.name")):
        port = first(attributes, ("server.port", "net.peer.port"))
        return cut(written(address, int(port) if port.isdecimal() and len(port) < 6 else 0, namespace))
    name = pool.partition("|")[0]  # behind it stands the user
    by_key = "://" in name or "=" in name
    host, port_number = located(name if by_key else name.partition("/")[0])
    if not host or not (by_key or port_number):
        return ""
    return cut(written(host, port_number, namespace or _database(name)))


def first(attributes: Texts, names: tuple[str, ...]) -> str:
    return next((attributes[name] for name in names if name in attributes), "")


def split(names: str) -> tuple[str, ...]:
    return tuple(name for name in names.split("|") if name)


def _database(pool: str) -> str:
    if "=" in pool and "://" not in pool:
        named = _DATABASE.search(pool)
        return named[1].strip() if named else ""
    path = _PATH.match(pool.partition("://")[2].partition("/")[2] if "://" in pool else pool.partition("/")[2])
    return path[0] if path else ""


def series_of(metric: str, attributes: Texts) -> str:
    """The metric and its attributes in order."""
    text = ",".join(f"{name}={value}" for name, value in sorted(attributes.items()))
    return f"{metric} {text}" if text else metric


def rows_of(table: PoolTable, metric: str, attributes: Texts) -> Iterator[PoolRow]:
    return (row for row in table.get(metric, ()) if row.passes(attributes))
