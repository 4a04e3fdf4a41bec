"""A table that goes with a query, and the error of a query that is too large."""

from __future__ import annotations

from typing import NamedTuple


class TooLargeError(Exception):
    """The database refused a query for its size: of what it holds in memory, or of its result."""


class Table(NamedTuple):
    """A table that is sent along with a query: a few thousand keys are more than fits a parameter.

    columns: name and type of each, as ClickHouse writes them.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[int | str, ...]]
