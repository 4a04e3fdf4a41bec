"""Reads the files of clickhouse/tables: each says what one table is now that streaming jobs write."""

import re
from dataclasses import dataclass
from pathlib import Path

from migrate.cluster import order_by
from migrate.errors import MigrateError
from migrate.statements import read

FOLDER = Path(__file__).resolve().parents[1] / "clickhouse/tables"
#: How long the row's window is: in ORDER BY, but the same in all rows that a job writes.
LENGTHS = ("bucket_ms", "window_s")
#: The server fills it.
WRITTEN = "written"
# A line each: name, type with at most one pair of parentheses within its own, and what else is said of the column.
_COLUMN = re.compile(r"^ {4}(?P<name>[a-z]\w*) +(?P<type>\w+(?:\((?:[^()]|\([^()]*\))*\))?)[ ,]", re.MULTILINE)


@dataclass(frozen=True)
class Column:
    """`type` is ClickHouse's."""

    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """What a job writes of a table. `key`: names of what tells its rows apart; both in the order of the file."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def values(self) -> tuple[Column, ...]:
        """What is neither key nor length nor version."""
        return tuple(each for each in self.columns if each.name not in (*self.key, *LENGTHS, "version"))


def table(file: Path) -> Table:
    """The table of one file. Raises MigrateError if it is not one CREATE TABLE with ORDER BY, named as the file."""
    text = read(file)[0].text
    name, order = order_by(text) or ("", [])
    if name != file.stem:
        raise MigrateError(f"read {file}: expected CREATE TABLE {file.stem} with columns, ENGINE and ORDER BY")
    columns = tuple(
        Column(found["name"], found["type"]) for found in _COLUMN.finditer(text) if found["name"] != WRITTEN
    )
    names = [each.name for each in columns]
    if unknown := sorted({*order, "version"} - {*names}):
        raise MigrateError(f"read {file}: no column {', '.join(unknown)}; expected a line for each: its name and type")
    return Table(name, columns, tuple(each for each in names if each in order and each not in LENGTHS))


def tables(folder: Path = FOLDER) -> dict[str, Table]:
    """All of them, by name."""
    return {file.stem: table(file) for file in sorted(folder.glob("*.sql"))}
