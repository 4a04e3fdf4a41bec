"""Applies migrations, functions, views and TTLs to ClickHouse."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from migrate import ttl
from migrate.cluster import LOCAL, Cluster, bookkeeping, distributed, on_cluster, order_by
from migrate.errors import MigrateError
from migrate.migrations import Applied, Migration
from migrate.statements import Statement
from migrate.waiting import until_ready

# Single statements have no bookkeeping: each statement of a migration is repeatable (IF NOT EXISTS), so a run that was
# killed before this table's row can run again. The row comes last: a version that is recorded is there as a whole.
_BOOKKEEPING = """
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


def connect(
    url: str, wait_s: float, database: str = "", login: tuple[str, str] = ("default", ""), authority: str = ""
) -> Client:
    """Returns a client of `http[s]://[user[:password]@]host:port`. Of several addresses, with commas between, it uses
    the first server that answers; waits until one does. Raises MigrateError after wait_s.

    login: user and password, if the URL has no user. authority: PEM file of the authority of the server's certificate.
    """
    urls = url.split(",")
    if len(urls) == 1:
        return _connect(url, wait_s, database, login, authority)
    for server in urls:
        try:
            return _connect(server, 0, database, login, authority)
        except MigrateError:
            continue
    return _connect(urls[0], wait_s, database, login, authority)


def _connect(url: str, wait_s: float, database: str, login: tuple[str, str], authority: str) -> Client:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = re.sub(r"[^/]*@", "", url)  # without a password
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
            ca_cert=authority or None,
        )

    return until_ready(f"ClickHouse at {parts.hostname}:{parts.port}", attempt, (ClickHouseError, OSError), wait_s)


def prepare(client: Client, database: str, cluster: Cluster | None = None) -> None:
    """Creates the database and its table schema_migrations if they are missing.

    Raises MigrateError for a cluster and a database made without one, and the reverse.
    """
    query = "SELECT engine FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'"
    engines = client.query(query, parameters={"database": database}).result_rows
    if engines and engines[0][0].startswith("Replicated") != (cluster is not None):
        was = "without" if cluster else "with"
        raise MigrateError(
            f"prepare {database}: it was made {was} --cluster; tables are not moved from one to the other"
        )
    if cluster is not None:
        for statement in bookkeeping(database, cluster):
            client.command(statement)
        return
    client.command(f"CREATE DATABASE IF NOT EXISTS `{database}`")
    client.command(_BOOKKEEPING.format(database=database))


def recorded(client: Client, database: str) -> dict[int, Applied]:
    """Rows of schema_migrations by version; empty without the table. Writes nothing."""
    if not client.command(f"EXISTS TABLE `{database}`.schema_migrations"):
        return {}
    rows = client.query(f"SELECT version, name, checksum FROM `{database}`.schema_migrations").result_rows
    return {row[0]: Applied(*row) for row in rows}


def cluster_of(client: Client, name: str) -> Cluster | None:
    """The cluster of a name; None without a name. Raises MigrateError if the server does not know it."""
    if not name:
        return None
    query = "SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = {name:String}"
    (shards,) = client.query(query, parameters={"name": name}).result_rows[0]
    if not shards:
        raise MigrateError(f"read --cluster {name!r}: the server knows no such cluster (system.clusters)")
    return Cluster(name, sharded=shards > 1)


def distribute(client: Client, migrations: Iterable[Migration], database: str, cluster: Cluster | None) -> None:
    """Replaces the tables over all shards, with the columns of the tables below them; does nothing on one shard."""
    if cluster is None or not cluster.sharded:
        return
    existing = {name.removesuffix(LOCAL) for name in engines(client, database) if name.endswith(LOCAL)}
    for migration in migrations:
        for statement in migration.statements():
            table = order_by(statement.text)
            if table and table[0] in existing:
                client.command(distributed(*table, database, cluster))


def for_cluster(statements: Sequence[Statement], tables: Sequence[str], cluster: Cluster | None) -> list[Statement]:
    if cluster is None:
        return list(statements)
    return [statement._replace(text=on_cluster(statement.text, cluster, tables)) for statement in statements]


def record(client: Client, migration: Migration) -> None:
    """Records a migration of which all statements are applied."""
    client.insert(
        "schema_migrations",
        [[migration.version, migration.name, migration.checksum]],
        column_names=["version", "name", "checksum"],
    )


def run(client: Client, statements: Iterable[Statement], before: Callable[[], None] = lambda: None) -> None:
    """Runs statements in order; an error names file and statement. before: called before each statement."""
    for statement in statements:
        before()
        try:
            client.command(statement.text)
        except ClickHouseError as error:
            raise MigrateError(f"apply {statement.describe()}: {error}") from error


def engines(client: Client, database: str) -> dict[str, str]:
    """The column engine_full of every table of a database, by name; it holds the TTL."""
    query = "SELECT name, engine_full FROM system.tables WHERE database = {database:String} ORDER BY name"
    rows = client.query(query, parameters={"database": database}).result_rows
    return {str(row[0]): str(row[1]) for row in rows}


def set_ttls(client: Client, database: str, days: Mapping[str, int], cluster: Cluster | None = None) -> list[str]:
    """Sets how many days tables keep their rows; returns the names of the changed tables."""
    existing = engines(client, database)
    if cluster is not None and cluster.sharded:
        existing = {name.removesuffix(LOCAL): engine for name, engine in existing.items() if name.endswith(LOCAL)}
    statements = ttl.alterations(existing, days)
    for statement in statements.values():
        if cluster is not None:
            statement = on_cluster(statement, cluster, list(existing))
        client.command(statement)
    return list(statements)
