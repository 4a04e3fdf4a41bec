"""Reads what spans and metrics show of samplers, for the services of pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from sluice.clickhouse.database import Database
from sluice.pools.sampling.trace_ids import TraceIds
from sluice.pools.sampling.verdict import Requests, Sampling, ServiceSpans, sampling_of

SPANS_SQL = files(__package__).joinpath("spans.sql").read_text(encoding="utf-8")
REQUESTS_SQL = files(__package__).joinpath("requests.sql").read_text(encoding="utf-8")
#: The newest window shows a sampler that has just begun; the longest time has the traces of a service that is seldom
#: called.
NEWEST_S, LONGEST_S = 10, 300
#: A job that lags, and clocks that are off.
LATE_S = 300
#: Agents send metrics each 60 s by default. Spans come up to so long after their end: exporters gather them for 5 s.
REQUESTS_S, GROWS_S = 300, 10
#: A parameter of a query holds the names of so many services.
SERVICES = 500


def samplings(database: Database, services: Iterable[str], now_ms: int) -> dict[str, Sampling | None]:
    """Of each service that has spans; None where they are all there. Raises the database's errors."""
    now_s = now_ms // 1_000
    names = sorted(set(services))
    spans: dict[str, list[ServiceSpans]] = {}
    requests: dict[str, Requests] = {}
    for first in range(0, len(names), SERVICES):
        of = {"services": names[first : first + SERVICES]}
        times = {"newest_s": NEWEST_S, "longest_s": LONGEST_S, "from_s": now_s - LONGEST_S - LATE_S}
        for service, _, seen, stated, adjusted, tail, *ids in _rows(database, SPANS_SQL, {**of, **times}):
            spans.setdefault(service, []).append(ServiceSpans(seen, stated, adjusted, tail, TraceIds(*ids)))
        for service, *counts in _rows(database, REQUESTS_SQL, {**of, "grows_s": GROWS_S, "from_s": now_s - REQUESTS_S}):
            requests[service] = Requests(*map(float, counts))
    return {name: sampling_of(parts, requests.get(name)) for name, parts in spans.items()}


def _rows(database: Database, sql: str, parameters: Mapping[str, object]) -> Iterator[tuple[Any, ...]]:
    columns = database.columns(sql, dict(parameters))
    return zip(*columns, strict=True) if columns else iter(())
