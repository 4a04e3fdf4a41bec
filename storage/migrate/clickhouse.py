"""Applies migrations, functions, views and TTLs to ClickHouse."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from migrate import ttl
from migrate.errors import MigrateError
from migrate.migrations import Applied, Migration
from migrate.statements import Statement, read
from migrate.waiting import until_ready

# No bookkeeping of single statements: each statement of a migration is repeatable (IF NOT EXISTS), so a run that
# was killed between a statement and this table's row is simply run again.
_BOOK = """
CREATE TABLE IF NOT EXISTS `{database}`.schema_migrations
(
    version    UInt32,
    name       String,
    checksum   String COMMENT 'SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY version
"""


def connect(url: str, wait_s: float, database: str = "", login: tuple[str, str] = ("default", "")) -> Client:
    """A client of `http[s]://[user[:password]@]host:port`; waits until the server answers.

    login: user and password, where the URL names no user.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = re.sub(r"[^/]*@", "", url)  # a password is nobody's to read
        raise MigrateError(f"read the ClickHouse address {shown!r}: expected http://[user:password@]host:port")
    user, password = (unquote(parts.username), unquote(parts.password or "")) if parts.username else login

    def attempt() -> Client:
        return clickhouse_connect.get_client(
            interface=parts.scheme,
            host=parts.hostname,
            port=parts.port or (8443 if parts.scheme == "https" else 8123),
            username=user,
            password=password,
            database=database or "__default__",
        )

    return until_ready(f"ClickHouse at {parts.hostname}:{parts.port}", attempt, (ClickHouseError, OSError), wait_s)


def prepare(client: Client, database: str) -> None:
    """Creates the database and its table schema_migrations where they are missing."""
    client.command(f"CREATE DATABASE IF NOT EXISTS `{database}`")
    client.command(_BOOK.format(database=database))


def recorded(client: Client, database: str) -> dict[int, Applied]:
    """What the table schema_migrations holds, by version; nothing where there is no such table. Writes nothing."""
    if not client.command(f"EXISTS TABLE `{database}`.schema_migrations"):
        return {}
    rows = client.query(f"SELECT version, name, checksum FROM `{database}`.schema_migrations").result_rows
    return {row[0]: Applied(*row) for row in rows}


def apply(client: Client, migration: Migration) -> None:
    """Runs one migration and records it."""
    run(client, read(migration.file))
    client.insert(
        "schema_migrations",
        [[migration.version, migration.name, migration.checksum]],
        column_names=["version", "name", "checksum"],
    )


def run(client: Client, statements: Iterable[Statement]) -> None:
    """Runs statements in order; an error names file and statement."""
    for statement in statements:
        try:
            client.command(statement.text)
        except ClickHouseError as error:
            raise MigrateError(f"apply {statement.describe()}: {error}") from error


def engines(client: Client, database: str) -> dict[str, str]:
    """The column engine_full of every table of a database, by name; it holds the TTL."""
    query = "SELECT name, engine_full FROM system.tables WHERE database = {database:String} ORDER BY name"
    rows = client.query(query, parameters={"database": database}).result_rows
    return {str(row[0]): str(row[1]) for row in rows}


def set_ttls(client: Client, database: str, wanted: Mapping[str, int]) -> list[str]:
    """Makes tables keep their rows for the days that are wanted; the names of those that did not already."""
    statements = ttl.alterations(engines(client, database), wanted)
    for statement in statements.values():
        client.command(statement)
    return list(statements)
