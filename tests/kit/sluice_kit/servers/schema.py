"""Sluice's schema for many tests on one engine: made once, its tables emptied before each."""

from collections.abc import Iterable

from migrate.__main__ import schema_up
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.rollups import stop_rollups

_TABLES = """
    SELECT name, total_rows FROM system.tables
    WHERE database = 'sluice' AND engine LIKE '%MergeTree' AND name != 'schema_migrations'
"""


def whole_schema(engine: ClickHouse) -> list[str]:
    """Makes it in the database `sluice`, the only one that the read-only user may read; names of its tables.

    Rollups are filled when a test asks: a refresh that runs while the tables are emptied would fill them again.
    """
    schema_up(engine.writer_url, "sluice", wait_s=10)
    client = engine.client("sluice")
    stop_rollups(client)
    return [row[0] for row in client.query(_TABLES).result_rows]


def emptied(engine: ClickHouse, tables: Iterable[str]) -> None:
    """Leaves no row in them. AssertionError: there are other tables now, so a test changed the schema for the next."""
    client = engine.client("sluice")
    rows: dict[str, int] = {str(name): int(count) for name, count in client.query(_TABLES).result_rows}
    assert rows.keys() == set(tables)
    for table in tables:
        if rows[table]:
            client.command(f"TRUNCATE TABLE {table} SYNC")
