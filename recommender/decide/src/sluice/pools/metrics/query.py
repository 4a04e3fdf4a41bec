"""Reads the sizes and the use of pools from metrics, and the peers of services whose connection pools name none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any

from sluice.clickhouse.database import Database
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric, PoolOfInstance
from sluice.pools.metrics.use import Figure, FigureReading

SIZES_SQL = files(__package__).joinpath("sizes.sql").read_text(encoding="utf-8")
USE_SQL = files(__package__).joinpath("use.sql").read_text(encoding="utf-8")
PEERS_SQL = files(__package__).joinpath("peers.sql").read_text(encoding="utf-8")
# Agents send metrics each 60 s by default. A figure that three intervals did not repeat is none.
FRESH_MS = 180_000
# Peers count that had spans in these ten minutes. The newest half minute is left out: a peer that only traces show
# stands under its address until they are whole.
PEERS_S, SETTLES_S = 600, 30
# A parameter of a query holds the names of so many services.
SERVICES = 500


def pool_metrics(database: Database, services: Iterable[str], now_ms: int) -> MetricsReading:
    """Sizes and use of the newest FRESH_MS. Raises the database's errors."""
    newest = list(_parameters(services, from_s=(now_ms - FRESH_MS) // 1_000))
    sizes = [PoolMetric(*row) for parameters in newest for row in _rows(database, SIZES_SQL, parameters)]
    uses: dict[PoolOfInstance, dict[str, Figure]] = {}
    for parameters in newest if sizes else ():
        for *of, figure, metric, readings in _rows(database, USE_SQL, parameters):
            uses.setdefault(PoolOfInstance(*of), {})[figure] = Figure(metric, list(map(FigureReading._make, readings)))
    unnamed = {size.service for size in sizes if size.side == "client" and not size.peer}
    times = {"from_s": now_ms // 1_000 - PEERS_S, "to_s": now_ms // 1_000 - SETTLES_S}
    peers = {
        service: frozenset(names)
        for parameters in _parameters(unnamed, **times)
        for service, names in _rows(database, PEERS_SQL, parameters)
    }
    return MetricsReading(sorted(sizes, key=lambda size: size.last_ms), peers, uses)


def _parameters(services: Iterable[str], **times: int) -> Iterator[dict[str, object]]:
    names = sorted(set(services))
    for first in range(0, len(names), SERVICES):
        yield {"services": names[first : first + SERVICES], **times}


def _rows(database: Database, sql: str, parameters: dict[str, object]) -> Iterator[tuple[Any, ...]]:
    columns = database.columns(sql, parameters)
    return zip(*columns, strict=True) if columns else iter(())
