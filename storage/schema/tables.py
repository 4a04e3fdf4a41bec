"""Reads the schema as files: columns and keys of the tables that streaming jobs write."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from migrate import migrations
from migrate.cluster import order_by
from migrate.errors import MigrateError

FOLDER = Path(__file__).resolve().parents[1] / "clickhouse"
#: Lengths of windows: in ORDER BY, but the same in all rows that a job writes.
LENGTHS = ("bucket_ms", "window_s")
#: The server fills this column.
WRITTEN = "written"
# A column's name, and its type with at most one pair of parentheses within its own. In CREATE TABLE a line each.
_COLUMN = r"(?P<name>[a-z]\w*) +(?P<type>\w+(?:\((?:[^()]|\([^()]*\))*\))?)"
_CREATED = re.compile(rf"^ {{4}}{_COLUMN}[ ,]", re.MULTILINE)
_ALTERED = re.compile(rf"\b(?:ADD|MODIFY) COLUMN (?:IF NOT EXISTS |IF EXISTS )?{_COLUMN}")


@dataclass(frozen=True)
class Column:
    """`type` is ClickHouse's."""

    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """The columns of a table that a job writes. `key`: names of the columns that identify a row. Both are in the order
    of the file; columns of migrations follow."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def values(self) -> tuple[Column, ...]:
        """Columns that are neither key nor length nor version."""
        return tuple(column for column in self.columns if column.name not in (*self.key, *LENGTHS, "version"))


def table(name: str, statements: Sequence[str]) -> Table:
    """The table that the statements create and alter. Raises MigrateError if none creates it with ORDER BY."""
    created = next((text for text in statements if (table := order_by(text)) and table[0] == name), "")
    if not created:
        raise MigrateError(f"read table {name}: expected CREATE TABLE {name} with columns, ENGINE and ORDER BY")
    altered = [text for text in statements if re.match(rf"ALTER TABLE {name}\b", text)]
    matches = [*_CREATED.finditer(created), *(column for text in altered for column in _ALTERED.finditer(text))]
    types = {column["name"]: column["type"] for column in matches if column["name"] != WRITTEN}
    (_, order) = order_by(created) or ("", [])
    if unknown := sorted({*order, "version"} - {*types}):
        raise MigrateError(
            f"read table {name}: no column {', '.join(unknown)}; expected a line for each: its name and type"
        )
    columns = tuple(Column(*item) for item in types.items())
    return Table(name, columns, tuple(column for column in types if column in order and column not in LENGTHS))


def tables(names: Iterable[str], folder: Path = FOLDER) -> dict[str, Table]:
    """Tables by name, after the first schema and all migrations. Raises MigrateError."""
    texts = [statement.text for migration in migrations.load(folder) for statement in migration.statements()]
    return {name: table(name, texts) for name in sorted(names)}
