"""A table that goes with a query, and the error for a query that is too large."""

from __future__ import annotations

from typing import NamedTuple


class TooLargeError(Exception):
    """The database refused a query because of the memory that it needs, or the size of its result."""


class Table(NamedTuple):
    """A table sent with a query: a few thousand keys do not fit into a parameter.

    columns: name and type of each, as ClickHouse writes them.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[int | str, ...]]
