"""Command line: `python -m migrate up | check | ready | status`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from migrate import clickhouse, definitions, graph, migrations, ttl, versions
from migrate.cluster import order_by
from migrate.errors import MigrateError
from migrate.lock import Lock
from migrate.statements import Statement, read

STORAGE = Path(__file__).resolve().parents[1]
CLICKHOUSE = STORAGE / "clickhouse"


class Fail(click.ClickException):
    """Prints `error: ...` and exits with 1."""

    def show(self, file: object = None) -> None:
        click.echo(f"error: {self.message}", err=True)


def schema_up(
    url: str,
    database: str,
    wait_s: float,
    ttl_days: Mapping[str, int] | None = None,
    login: tuple[str, str] = ("default", ""),
    authority: str = "",
    cluster_name: str = "",
) -> list[str]:
    """Brings ClickHouse up to date; returns a line for each change. `login`, `authority`: as for clickhouse.connect.
    cluster_name: "" for one server."""
    files = migrations.load(CLICKHOUSE)
    replaced = [
        *definitions.load(CLICKHOUSE / "functions", "FUNCTION"),
        *definitions.load(CLICKHOUSE / "views", "VIEW"),
    ]
    client = clickhouse.connect(url, wait_s, login=login, authority=authority)
    cluster = clickhouse.cluster_of(client, cluster_name)
    clickhouse.prepare(client, database, cluster)
    client, beats = (clickhouse.connect(url, wait_s, database, login, authority) for _ in range(2))
    statements = [statement for migration in files for statement in migration.statements()]
    tables = [table[0] for statement in statements if (table := order_by(statement.text))]
    with Lock(beats, database, cluster, say=complain) as lock:
        applied = clickhouse.recorded(client, database)
        if name := migrations.newer(files, applied):
            return [f"nothing changed: the database has {name}, which is newer than this source tree"]
        due = migrations.pending(files, applied)
        for migration in due:
            clickhouse.run(client, clickhouse.for_cluster(migration.statements(), tables, cluster), lock.check)
            if migration is not due[-1]:
                clickhouse.record(client, migration)
        clickhouse.distribute(client, files, database, cluster)
        clickhouse.run(client, clickhouse.for_cluster(replaced, tables, cluster), lock.check)
        days = ttl_days or {}
        kept = [f"{table} keeps {days[table]} days" for table in clickhouse.set_ttls(client, database, days, cluster)]
        # Last: processes start once it is recorded, and read functions and views too.
        for migration in due[-1:]:
            clickhouse.record(client, migration)
    return [f"applied {migration.path.name}" for migration in due] + kept


def complain(line: str) -> None:
    click.echo(line, err=True)


def graph_up(
    url: str, password: str, wait_s: float, user: str = "neo4j", database: str = "neo4j", authority: str = ""
) -> None:
    """Creates missing constraints in Neo4j."""
    statements: list[Statement] = [item for file in sorted((STORAGE / "neo4j").glob("*.cypher")) for item in read(file)]
    with graph.connect(url, password, wait_s, user, authority) as driver:
        graph.run(driver, statements, database)


@click.group(context_settings={"show_default": True})
def cli() -> None:
    """Brings ClickHouse and Neo4j to the schema of this source tree.

    It logs in to ClickHouse as the URL's user, else as SLUICE_CLICKHOUSE_USER (default) with the password in the file
    SLUICE_CLICKHOUSE_PASSWORD_FILE; to Neo4j with that in SLUICE_NEO4J_PASSWORD_FILE.
    """


def clickhouse_login() -> tuple[str, str]:
    """User and password from the environment: all users of the host can read a command line."""
    return os.environ.get("SLUICE_CLICKHOUSE_USER") or "default", secret("SLUICE_CLICKHOUSE_PASSWORD")


def secret(name: str) -> str:
    """The content of the file that NAME_FILE names; "" without it. Raises MigrateError, also for a password in NAME."""
    if os.environ.get(name):
        raise MigrateError(f"read {name}: it is not legal; legal: {name}_FILE=PATH, of a file that holds the password")
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().removesuffix("\n")
        except OSError as error:
            raise MigrateError(f"read {name}_FILE: {error}") from error
    return ""


clickhouse_option = click.option(
    "--clickhouse", "clickhouse_url", envvar="SLUICE_CLICKHOUSE", show_envvar=True, default="http://127.0.0.1:8123"
)
database_option = click.option(
    "--database", envvar="SLUICE_CLICKHOUSE_DATABASE", show_envvar=True, default="sluice", help="ClickHouse database."
)
authority_option = click.option(
    "--clickhouse-ca", "authority", envvar="SLUICE_CLICKHOUSE_CA", show_envvar=True, default="", show_default=False,
    help="PEM file of the authority of the server's certificate.",
)  # fmt: skip
wait_option = click.option(
    "--wait", "wait_s", type=click.FloatRange(0, 3600), default=60, help="Seconds for a server to start."
)


@cli.command()
@clickhouse_option
@database_option
@authority_option
@click.option(
    "--cluster",
    envvar="SLUICE_CLICKHOUSE_CLUSTER",
    show_envvar=True,
    default="",
    show_default=False,
    help="Name of a cluster in system.clusters: tables are replicated, and distributed over its shards if it has "
    "several.",
)
@wait_option
@click.option("--neo4j", "neo4j_url", envvar="SLUICE_NEO4J", show_envvar=True, default="bolt://127.0.0.1:7687")
@click.option("--neo4j-user", envvar="SLUICE_NEO4J_USER", show_envvar=True, default="neo4j")
@click.option("--neo4j-database", envvar="SLUICE_NEO4J_DATABASE", show_envvar=True, default="neo4j")
@click.option("--neo4j-ca", envvar="SLUICE_NEO4J_CA", show_envvar=True, default="", show_default=False)
@click.option(
    "--ttl-days",
    multiple=True,
    metavar="TABLE=N",
    envvar="SLUICE_TTL_DAYS",
    show_envvar=True,
    help="Days that a table keeps its rows; repeatable. Without it the table stays as it is.",
)
@click.option("--only", type=click.Choice(["clickhouse", "neo4j"]), help="One of the two stores.")
def up(
    clickhouse_url: str,
    database: str,
    authority: str,
    cluster: str,
    wait_s: float,
    neo4j_url: str,
    neo4j_user: str,
    neo4j_database: str,
    neo4j_ca: str,
    ttl_days: tuple[str, ...],
    only: str | None,
) -> None:
    """Applies pending migrations, functions, views and constraints; safe to repeat.

    Of several at a time, one works and the others wait for it. The newest version is recorded at the end. A database
    that is newer than this source tree stays as it is.
    """
    try:
        ttls = dict(ttl.parse_option(text) for text in ttl_days)
        if only != "neo4j":
            login = clickhouse_login()
            changed = schema_up(clickhouse_url, database, wait_s, ttls, login, authority, cluster)
            for line in [*(changed or ["nothing to apply"]), "done"]:
                click.echo(f"clickhouse: {line}")
        if only != "clickhouse":
            password = secret("SLUICE_NEO4J_PASSWORD")
            graph_up(neo4j_url, password, wait_s, neo4j_user, neo4j_database, neo4j_ca)
            click.echo("neo4j: constraints are current")
    except MigrateError as error:
        raise Fail(str(error)) from error


@cli.command()
@clickhouse_option
@database_option
@authority_option
@wait_option
def check(clickhouse_url: str, database: str, authority: str, wait_s: float) -> None:
    """Compares this source tree with what ClickHouse has recorded, and changes nothing.

    Exit code 0: all migrations are applied, or newer ones; 1: behind, with the list; 2: an error.
    """
    try:
        client = clickhouse.connect(clickhouse_url, wait_s, login=clickhouse_login(), authority=authority)
        files, applied = migrations.load(CLICKHOUSE), clickhouse.recorded(client, database)
        due, name = migrations.pending(files, applied), migrations.newer(files, applied)
    except MigrateError as error:
        Fail(str(error)).show()
        sys.exit(2)
    for migration in due:
        click.echo(f"pending  {migration.path.name}")
    if not due:
        click.echo(f"newer    {name}" if name else f"current  {files[-1].path.name}")
    sys.exit(1 if due else 0)


@cli.command()
@clickhouse_option
@database_option
@authority_option
@click.option("--wait", "wait_s", type=click.FloatRange(0, 86_400), default=600, help="Seconds, at most.")
def ready(clickhouse_url: str, database: str, authority: str, wait_s: float) -> None:
    """Waits until ClickHouse answers and has recorded the newest migration of this source tree, or a newer one."""

    def missing() -> str:
        client = clickhouse.connect(clickhouse_url, 0, login=clickhouse_login(), authority=authority)
        return versions.missing(migrations.load(CLICKHOUSE), clickhouse.recorded(client, database))

    try:
        versions.wait(missing, wait_s, complain)
    except MigrateError as error:
        raise Fail(str(error)) from error


@cli.command()
@clickhouse_option
@database_option
@authority_option
@wait_option
def status(clickhouse_url: str, database: str, authority: str, wait_s: float) -> None:
    """Lists the first schema and the migrations, applied and pending, and how long each table keeps its rows."""
    try:
        files = migrations.load(CLICKHOUSE)
        client = clickhouse.connect(clickhouse_url, wait_s, login=clickhouse_login(), authority=authority)
        done = clickhouse.recorded(client, database)
        tables = clickhouse.engines(client, database)
        waiting = {migration.version for migration in migrations.pending(files, done)}
    except MigrateError as error:
        raise Fail(str(error)) from error
    for migration in files:
        click.echo(f"{'pending' if migration.version in waiting else 'applied'}  {migration.path.name}")
    for table, engine in tables.items():
        if days := ttl.kept(engine):
            click.echo(f"keeps    {table} {days} days")


if __name__ == "__main__":
    cli(prog_name="python -m migrate")
