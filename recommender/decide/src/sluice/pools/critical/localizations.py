"""The localization of each root operation, from the critical paths in ClickHouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from sluice.pools.estimate.critical import Localization, PathTimes, localize

SQL = files(__package__).joinpath("services.sql").read_text(encoding="utf-8")


class TraceRoot(NamedTuple):
    """The operation with which traces begin."""

    service: str
    operation: str


Localizations = Mapping[TraceRoot, Localization]


def path_times(columns: Sequence[Any]) -> PathTimes:
    """A service of a row of the query, without its root operation."""
    service, traces, x, xx, y, yy, xy, own, wait, p50, p99, cpu, pool, in_flight, p95, usual, usual_e2e = columns
    sums = (int(traces), int(x), int(xx), int(y), int(yy), int(xy), int(own), int(wait))
    size = None if pool is None else int(pool)
    return PathTimes(service, *sums, p50, p99, cpu, size, in_flight, p95, usual, usual_e2e)


def localizations(rows: Iterable[Sequence[Any]]) -> dict[TraceRoot, Localization]:
    """Localizations from the query's rows; the operation with the most traces first."""
    roots: dict[TraceRoot, list[PathTimes]] = {}
    for service, operation, *columns in rows:
        roots.setdefault(TraceRoot(service, operation), []).append(path_times(columns))
    by_root = {root: localize(root.service, services) for root, services in roots.items()}
    return dict(sorted(by_root.items(), key=lambda entry: -entry[1].traces))
