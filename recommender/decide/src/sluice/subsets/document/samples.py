"""Reads latency samples: CSV of service,rate_per_s,cpu,memory_bandwidth,network,mu,sigma (of ln of the latency in
ms)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable

import numpy as np

from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.legal import IllegalSubsetsError

COLUMNS = ("service", "rate_per_s", "cpu", "memory_bandwidth", "network", "mu", "sigma")
_RANGES = {
    "rate_per_s": (0.0, math.inf),
    "cpu": (0.0, 1.0),
    "memory_bandwidth": (0.0, 1.0),
    "network": (0.0, 1.0),
    "mu": (-math.inf, math.inf),
    "sigma": (0.0, math.inf),
}


def read_samples(source: Iterable[str], name: str) -> dict[str, LatencySamples]:
    """Samples by service. The header names the columns; they may be in any order, and other columns are ignored.

    Raises:
        IllegalError: a column is missing, or a value is not a number in range; the message names file, line and column.
    """
    rows = csv.reader(source, skipinitialspace=True)
    try:
        header = [cell.strip().lower() for cell in next(rows, [])]
        missing = [column for column in COLUMNS if column not in header]
        if missing:
            raise IllegalSubsetsError([f"{name}: the header has no column {missing[0]!r}; legal: {','.join(COLUMNS)}"])
        places = [header.index(column) for column in COLUMNS]
        by_service: dict[str, list[list[float]]] = {}
        for row in rows:
            if any(cell.strip() for cell in row):
                service, values = _row(row, places, f"{name}, line {rows.line_num}")
                by_service.setdefault(service, []).append(values)
    except csv.Error as error:
        raise IllegalSubsetsError([f"{name}, line {rows.line_num}: {error}"]) from None
    return {service: _samples(values) for service, values in sorted(by_service.items())}


def _row(row: list[str], places: list[int], where: str) -> tuple[str, list[float]]:
    if len(row) <= max(places):
        raise IllegalSubsetsError([f"{where}: {len(row)} columns; legal: {','.join(COLUMNS)}"])
    values = []
    for column, place in zip(COLUMNS[1:], places[1:], strict=True):
        low, high = _RANGES[column]
        try:
            value = float(row[place])
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and low <= value <= high):
            legal = {0.0: "0 or more", -math.inf: "a number"}[low] if high == math.inf else "0 to 1"
            raise IllegalSubsetsError([f"{where}: {column} {row[place].strip()!r} is not legal; legal: {legal}"])
        values.append(value)
    return row[places[0]].strip(), values


def _samples(values: list[list[float]]) -> LatencySamples:
    table = np.array(values)
    # Sorts by value, so that the order of lines does not matter.
    table = table[np.lexsort(table.T[::-1])]
    return LatencySamples(
        table[:, 0].copy(), np.ascontiguousarray(table[:, 1:4]), table[:, 4].copy(), table[:, 5].copy()
    )
