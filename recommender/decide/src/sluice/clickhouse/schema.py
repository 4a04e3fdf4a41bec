"""The version of ClickHouse's schema: the recorded one, and the one that the decider needs."""

from __future__ import annotations

from clickhouse_connect.driver.exceptions import DatabaseError

from sluice.clickhouse.database import Database

# The newest migration of storage/clickhouse; 0 is the first schema.
NEEDED = 9
# ClickHouse's error codes for an unknown table and an unknown database.
MISSING = (60, 81)


def lacking(database: Database, needed: int = NEEDED) -> str:
    """What is missing and the remedy; "" if nothing is. Raises as `Database`.

    The migrator records a version after all statements of its migration, so a recorded version is there as a whole.
    """
    try:
        columns = database.columns("SELECT count(), max(version) FROM schema_migrations", {})
        records, newest = columns[0][0], columns[1][0]
    except DatabaseError as cause:
        if cause.code not in MISSING:
            raise
        records, newest = 0, 0
    if records and newest >= needed:
        return ""
    return f"have {newest if records else 'none'}, need {needed}; run `sluice-migrate up`"
