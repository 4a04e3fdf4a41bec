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


def localizations(rows: Iterable[Sequence[Any]]) -> dict[TraceRoot, Localization]:
    """Localizations from the query's rows; the operation with the most traces first."""
    roots: dict[TraceRoot, list[PathTimes]] = {}
    for service, operation, on_path, traces, x, xx, y, yy, xy, own, wait, p50, p99, cpu, pool, in_flight, p95 in rows:
        sums = (int(traces), int(x), int(xx), int(y), int(yy), int(xy), int(own), int(wait))
        size = None if pool is None else int(pool)
        times = PathTimes(on_path, *sums, p50, p99, cpu, size, in_flight, p95)
        roots.setdefault(TraceRoot(service, operation), []).append(times)
    by_root = {root: localize(root.service, services) for root, services in roots.items()}
    return dict(sorted(by_root.items(), key=lambda entry: -entry[1].traces))
