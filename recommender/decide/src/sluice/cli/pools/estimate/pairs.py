"""Reads CSV rows of `concurrency,goodput` from any source as samples."""

import csv
import math
from collections.abc import Iterable
from typing import TextIO

import numpy as np

from sluice.cli.output import CliError
from sluice.pools.estimate import Samples

COLUMNS = ("concurrency", "goodput")


def read_pairs(source: TextIO, name: str, limit: int | None) -> Samples:
    """Samples of one pool and instance from rows of a file, one row a bucket.

    A header names the columns, in any order and among others. Without a header, the first two columns count. Empty
    lines do not count. `limit`: size of the pool during the measurement, None when unknown.

    Raises:
        CliError: a row is not two numbers in range; the text names file, line, column and the legal range.
    """
    rows = csv.reader(source, skipinitialspace=True)
    try:
        pairs = _numbers(rows, name)
    except UnicodeDecodeError as error:
        raise CliError(f"cannot read {name}: it is not text in UTF-8: {error}") from None
    except csv.Error as error:
        raise CliError(f"cannot read {name}, line {rows.line_num}: {error}") from None
    concurrency, goodput = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    # A bucket with nothing in flight says nothing about the pool (see collect.rows.measure).
    busy = concurrency > 0
    concurrency, goodput = concurrency[busy], goodput[busy]
    size = math.nan if limit is None else float(limit)
    # The rows have no completions besides goodput, so goodput stands for both.
    return Samples(concurrency, goodput, goodput, goodput, np.full(len(goodput), size), 1, caller_judged=True)


def _numbers(rows: Iterable[list[str]], name: str) -> list[tuple[float, float]]:
    pairs: list[tuple[float, float]] = []
    columns: tuple[int, int] | None = None
    for line, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row):
            continue
        if columns is None:
            columns, is_header = _columns(row, name)
            if is_header:
                continue
        pairs.append((_number(row, columns[0], 0, name, line), _number(row, columns[1], 1, name, line)))
    return pairs


def _columns(first: list[str], name: str) -> tuple[tuple[int, int], bool]:
    """Positions of the two columns, and whether the first row names them."""
    cells = [cell.strip().lower() for cell in first]
    if any(_is_number(cell) for cell in cells):
        return (0, 1), False
    missing = [column for column in COLUMNS if column not in cells]
    if missing:
        raise CliError(f"cannot read {name}: its header has no column {missing[0]!r}; legal: concurrency,goodput")
    return (cells.index(COLUMNS[0]), cells.index(COLUMNS[1])), True


def _number(row: list[str], column: int, which: int, name: str, line: int) -> float:
    where = f"cannot read {name}, line {line}: {COLUMNS[which]}"
    if column >= len(row):
        raise CliError(f"{where} is missing; legal: a row of concurrency,goodput")
    cell = row[column].strip()
    value = float(cell) if _is_number(cell) else math.nan
    if not 0 <= value < math.inf:
        raise CliError(f"{where} {cell!r} is not legal; legal: a number >= 0")
    return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
