"""Command line: `python -m migrate up | status`."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from migrate import clickhouse, definitions, graph, migrations, ttl
from migrate.errors import MigrateError
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
) -> list[str]:
    """Brings ClickHouse up to date; returns a line for each thing that changed. `login` as clickhouse.connect's."""
    files = migrations.load(CLICKHOUSE / "migrations")
    replaced = [
        *definitions.load(CLICKHOUSE / "functions", "FUNCTION"),
        *definitions.load(CLICKHOUSE / "views", "VIEW"),
    ]
    clickhouse.prepare(clickhouse.connect(url, wait_s, login=login), database)
    client = clickhouse.connect(url, wait_s, database, login)
    changed = []
    for migration in migrations.pending(files, clickhouse.recorded(client, database)):
        clickhouse.apply(client, migration)
        changed.append(f"applied {migration.file.name}")
    clickhouse.run(client, replaced)
    wanted = ttl_days or {}
    changed += [f"{table} keeps {wanted[table]} days" for table in clickhouse.set_ttls(client, database, wanted)]
    return changed


def graph_up(url: str, password: str, wait_s: float) -> None:
    """Creates the constraints that are missing in Neo4j."""
    statements: list[Statement] = [item for file in sorted((STORAGE / "neo4j").glob("*.cypher")) for item in read(file)]
    with graph.connect(url, password, wait_s) as driver:
        graph.run(driver, statements)


@click.group(context_settings={"show_default": True})
def cli() -> None:
    """Brings ClickHouse and Neo4j to the schema of this source tree.

    To ClickHouse it logs in as the URL says, else as SLUICE_CLICKHOUSE_USER (default) with SLUICE_CLICKHOUSE_PASSWORD.
    """


def clickhouse_login() -> tuple[str, str]:
    """User and password, of the environment alone: what is on a command line, all users of the host can read."""
    return os.environ.get("SLUICE_CLICKHOUSE_USER") or "default", os.environ.get("SLUICE_CLICKHOUSE_PASSWORD", "")


clickhouse_option = click.option(
    "--clickhouse", "clickhouse_url", envvar="SLUICE_CLICKHOUSE", show_envvar=True, default="http://127.0.0.1:8123"
)
database_option = click.option("--database", default="sluice", help="ClickHouse database.")
wait_option = click.option(
    "--wait", "wait_s", type=click.FloatRange(0, 3600), default=60, help="Seconds for a server to start."
)


@cli.command()
@clickhouse_option
@database_option
@wait_option
@click.option("--neo4j", "neo4j_url", envvar="SLUICE_NEO4J", show_envvar=True, default="bolt://127.0.0.1:7687")
@click.option("--neo4j-password", envvar="SLUICE_NEO4J_PASSWORD", show_envvar=True, default="", show_default=False)
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
    wait_s: float,
    neo4j_url: str,
    neo4j_password: str,
    ttl_days: tuple[str, ...],
    only: str | None,
) -> None:
    """Applies what is missing; safe to repeat."""
    try:
        ttls = dict(ttl.parse_option(text) for text in ttl_days)
        if only != "neo4j":
            for line in schema_up(clickhouse_url, database, wait_s, ttls, clickhouse_login()) or ["nothing to apply"]:
                click.echo(f"clickhouse: {line}")
            click.echo("clickhouse: functions and views are current")
        if only != "clickhouse":
            graph_up(neo4j_url, neo4j_password, wait_s)
            click.echo("neo4j: constraints are current")
    except MigrateError as error:
        raise Fail(str(error)) from error


@cli.command()
@clickhouse_option
@database_option
@wait_option
def status(clickhouse_url: str, database: str, wait_s: float) -> None:
    """Lists the migrations, applied and pending, and how long each table keeps its rows."""
    try:
        files = migrations.load(CLICKHOUSE / "migrations")
        client = clickhouse.connect(clickhouse_url, wait_s, login=clickhouse_login())
        done = clickhouse.recorded(client, database)
        tables = clickhouse.engines(client, database)
        waiting = {migration.version for migration in migrations.pending(files, done)}
    except MigrateError as error:
        raise Fail(str(error)) from error
    for migration in files:
        click.echo(f"{'pending' if migration.version in waiting else 'applied'}  {migration.file.name}")
    for table, engine in tables.items():
        if days := ttl.kept(engine):
            click.echo(f"keeps    {table} {days} days")


if __name__ == "__main__":
    cli(prog_name="python -m migrate")
