"""How long a table keeps its rows: the migration states the default, an operator may change it."""

import re

from migrate.errors import MigrateError

_INTERVAL = re.compile(r"toIntervalDay\((\d+)\)")
MAX_DAYS = 3650


def parse_option(text: str) -> tuple[str, int]:
    """`windows=3` as ("windows", 3)."""
    match = re.fullmatch(r"(\w+)=(\d+)", text)
    if not match or not 1 <= int(match[2]) <= MAX_DAYS:
        raise MigrateError(f"read --ttl-days {text!r}: expected TABLE=N with N from 1 to {MAX_DAYS} days")
    return match[1], int(match[2])


def alteration(table: str, engine_full: str, days: int) -> str | None:
    """The ALTER that makes `table` keep `days` days, or None if it does already.

    `engine_full` is the column of system.tables; its TTL must be one interval in days.
    """
    match = re.search(r" TTL (.+?)(?: SETTINGS |$)", engine_full, re.DOTALL)
    intervals = _INTERVAL.findall(match[1]) if match else []
    if not match or len(intervals) != 1:
        raise MigrateError(f"change the TTL of {table}: expected one interval in days, the table has {engine_full!r}")
    if int(intervals[0]) == days:
        return None
    return f"ALTER TABLE `{table}` MODIFY TTL {_INTERVAL.sub(f'toIntervalDay({days})', match[1])}"
