"""Reads all input of subsets, in one query for each kind."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np

from sluice.clickhouse.database import Database
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.observed import (
    ObservedApplication,
    ObservedCalls,
    ObservedContainer,
    ObservedHost,
    ObservedTree,
)
from sluice.subsets.reader.trees import call_of
from sluice.subsets.trial import MeasuredLatency

_FOLDER = files(__package__)
CONTAINERS, TREES, HOSTS, SAMPLES, MEASURED, CALLS = (
    _FOLDER.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    for name in ("containers", "trees", "hosts", "samples", "measured", "calls")
)

# Contention and latencies are those of the newest minute, which shows a drift, and the effect of a change.
CONTENTION_MS = 60_000
# Whether a caller follows its subset is judged by these: weights change once a minute or more.
CALLS_MS = 120_000
# mu of fewer requests is uncertain: its standard error is sigma / sqrt(n).
LEAST_REQUESTS = 20
# The most samples of one service for a model; more make training slower, and the model hardly less wrong.
MOST_SAMPLES = 5_000


class SubsetReader:
    """Reads the input of subsets. It raises the database's errors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication:
        """The input of the newest window_ms. Rates are over the time that has trees."""
        span: dict[str, object] = {"from_s": (now_ms - int(window_ms)) // 1000, "to_s": now_ms // 1000}
        containers = tuple(map(ObservedContainer, *self._columns(CONTAINERS, span, 6)))
        trees, cut = [], 0
        for operation, text, traces in zip(*self._columns(TREES, span, 3), strict=True):
            call = call_of(text)
            if call is None:
                cut += traces
            else:
                trees.append(ObservedTree(operation, call, traces))
        newest_s = max((container.last_s for container in containers), default=0)
        oldest_s = max(
            min((container.first_s for container in containers), default=0), (now_ms - int(window_ms)) // 1000
        )
        hosts = self._columns(HOSTS, {"from_ms": now_ms - CONTENTION_MS, "to_ms": now_ms}, 4)
        newest: dict[str, object] = {"from_s": (now_ms - CONTENTION_MS) // 1000, "to_s": now_ms // 1000}
        measured = self._columns(MEASURED, newest, 5)
        lately: dict[str, object] = {"from_s": (now_ms - CALLS_MS) // 1000, "to_s": now_ms // 1000}
        calls = tuple(map(ObservedCalls, *self._columns(CALLS, lately, 6)))
        return ObservedApplication(
            containers,
            tuple(trees),
            {name: ObservedHost(*map(_ratio, values)) for name, *values in zip(*hosts, strict=True)},
            float(max(newest_s - oldest_s, 10)),
            newest_s,
            cut,
            {name: MeasuredLatency(*values) for name, *values in zip(*measured, strict=True)},
            calls,
        )

    def samples(self, now_ms: int, learn_ms: float) -> dict[str, tuple[LatencySamples, np.ndarray]]:
        """Samples by service, with the starts of their windows. Unknown values of a host are NaN."""
        parameters: dict[str, object] = {"from_ms": now_ms - int(learn_ms), "to_ms": now_ms}
        parameters |= {"least": LEAST_REQUESTS, "most": MOST_SAMPLES}
        services, windows, *values = self._columns(SAMPLES, parameters, 8)
        table = np.array(
            [[math.nan if value is None else value for value in column] for column in values], dtype=np.float64
        )
        names, starts = np.array(services, dtype=object), np.array(windows, dtype=np.int64)
        by_service = {}
        for name in sorted(set(services)):
            rows = names == name
            rate, cpu, memory, network, mu, sigma = table[:, rows]
            contention = np.clip(np.column_stack([cpu, memory, network]), 0.0, 1.0)
            by_service[name] = LatencySamples(rate, contention, mu, sigma), starts[rows]
        return by_service

    def _columns(self, sql: str, parameters: dict[str, object], count: int) -> list[list[Any]]:
        """The columns of an answer; an answer without rows has none, so they are empty."""
        return self._database.columns(sql, parameters) or [[] for _ in range(count)]


def _ratio(value: float | None) -> float | None:
    return None if value is None else min(max(float(value), 0.0), 1.0)
