"""The parts of a ClickHouse client that readers need. Methods raise when the database cannot answer."""

from __future__ import annotations

from typing import Any, Protocol

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table


class Database(Protocol):
    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """The result's columns, of any types."""
        ...


class ArrayDatabase(Database, Protocol):
    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        """Columns of whole numbers and arrays of them, from a query that reads `table`, which is sent along.

        TooLargeError when the query needs more than the user may have.
        """
        ...
