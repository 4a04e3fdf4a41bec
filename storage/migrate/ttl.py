"""How long a table keeps its rows: the table's file states the default, an operator may change it."""

import re
from collections.abc import Mapping

from migrate.errors import MigrateError

_INTERVAL = re.compile(r"toIntervalDay\((\d+)\)")
MAX_DAYS = 3650


def parse_option(text: str) -> tuple[str, int]:
    """`windows=3` as ("windows", 3)."""
    match = re.fullmatch(r"(\w+)=(\d+)", text)
    if not match or not 1 <= int(match[2]) <= MAX_DAYS:
        raise MigrateError(f"read --ttl-days {text!r}: expected TABLE=N with N from 1 to {MAX_DAYS} days")
    return match[1], int(match[2])


def kept(engine_full: str) -> int | None:
    """Days that a table keeps its rows, or None if it has no TTL of one interval in days.

    `engine_full` is the column of system.tables.
    """
    intervals = _INTERVAL.findall(_expression(engine_full))
    return int(intervals[0]) if len(intervals) == 1 else None


def alterations(tables: Mapping[str, str], days: Mapping[str, int]) -> dict[str, str]:
    """Returns, by table, the ALTER that sets its days, for the tables with other days.

    `tables` has engine_full of every table. Raises MigrateError for a table that is missing or has no TTL in days.
    """
    statements = {}
    for table, wanted in days.items():
        if kept(tables.get(table, "")) is None:
            known = ", ".join(sorted(name for name, engine in tables.items() if kept(engine) is not None))
            raise MigrateError(f"change the TTL of {table}: there is no such table with a TTL in days; known: {known}")
        if kept(tables[table]) != wanted:
            expression = _INTERVAL.sub(f"toIntervalDay({wanted})", _expression(tables[table]))
            statements[table] = f"ALTER TABLE `{table}` MODIFY TTL {expression}"
    return statements


def _expression(engine_full: str) -> str:
    match = re.search(r" TTL (.+?)(?: SETTINGS |$)", engine_full, re.DOTALL)
    return match[1] if match else ""
