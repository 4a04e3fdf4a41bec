"""The same schema on several servers: rewrites each statement for a cluster. Pure: texts in, texts out.

Tables are replicated. With more than one shard, each shard has `NAME_local`, and NAME is a Distributed table over them.
Rows with the same key are on one shard: the sharding key is a hash of a column of ORDER BY.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from migrate.errors import MigrateError

_NAME = r"`?(?P<name>\w+)`?"
_TABLE = re.compile(rf"^CREATE TABLE (?P<if>IF NOT EXISTS )?{_NAME}(?P<rest>.*)$", re.DOTALL)
_ENGINE = re.compile(r"^ENGINE = (?P<kind>(?:Replacing)?MergeTree)(?P<arguments>\([^)]*\))?", re.MULTILINE)
_ORDER = re.compile(r"^ORDER BY \(?(?P<columns>[^)\n]*)\)?", re.MULTILINE)
# Statements with ON CLUSTER behind the name.
_OTHERS = re.compile(
    rf"^(?P<head>ALTER TABLE|DROP TABLE IF EXISTS|CREATE OR REPLACE VIEW|CREATE OR REPLACE FUNCTION"
    rf"|CREATE MATERIALIZED VIEW IF NOT EXISTS) {_NAME}(?P<rest>.*)$",
    re.DOTALL,
)
LOCAL = "_local"


@dataclass(frozen=True)
class Cluster:
    """name: as the servers' configuration has it (system.clusters). sharded: it has more than one shard.

    The servers need Keeper, and the macros {shard} and {replica}.
    """

    name: str
    sharded: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise MigrateError(f"read --cluster {self.name!r}: expected a name of letters, digits, _ . and -")

    @property
    def clause(self) -> str:
        return f"ON CLUSTER '{self.name}'"

    def stored(self, table: str) -> str:
        """The table that holds the rows."""
        return table + LOCAL if self.sharded else table


def on_cluster(text: str, cluster: Cluster, tables: Sequence[str]) -> str:
    """Rewrites a statement of a migration, a view or a function for all servers. tables: names of all existing tables,
    without LOCAL. Raises MigrateError for another kind of statement."""
    if match := _TABLE.match(text):
        return _table(match, cluster)
    if match := _OTHERS.match(text):
        name, rest = match["name"], match["rest"]
        if match["head"] in ("ALTER TABLE", "DROP TABLE IF EXISTS") and name in tables:
            name = cluster.stored(name)
        if match["head"].startswith("CREATE MATERIALIZED"):
            rest = _local_tables(rest, cluster, tables)  # each shard fills from its own rows
        last = " SYNC" if match["head"].startswith("DROP") else ""
        return f"{match['head']} {name} {cluster.clause}{rest}{last}"
    raise MigrateError(f"rewrite for a cluster: {text.splitlines()[0][:80]!r} is no known statement")


def _table(match: re.Match[str], cluster: Cluster) -> str:
    rest, changes = _ENGINE.subn(
        lambda engine: f"ENGINE = Replicated{engine['kind']}{engine['arguments'] or ''}", match["rest"]
    )
    if changes != 1:
        raise MigrateError(f"rewrite for a cluster: {match['name']} has no engine MergeTree")
    return f"CREATE TABLE {match['if'] or ''}{cluster.stored(match['name'])} {cluster.clause}{rest}"


def _local_tables(text: str, cluster: Cluster, tables: Sequence[str]) -> str:
    if not cluster.sharded:
        return text
    names = "|".join(map(re.escape, tables))
    return re.sub(rf"\b(FROM|TO|JOIN) ({names})\b", rf"\1 \2{LOCAL}", text)


def bookkeeping(database: str, cluster: Cluster) -> list[str]:
    """Statements for the database and its table of migrations on every server of every shard."""
    return [
        f"CREATE DATABASE IF NOT EXISTS `{database}` {cluster.clause}",
        f"""CREATE TABLE IF NOT EXISTS `{database}`.schema_migrations {cluster.clause}
(
    version    UInt32,
    name       String,
    checksum   String COMMENT 'SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{{database}}/{{table}}', '{{shard}}-{{replica}}')
ORDER BY version""",
    ]


def distributed(table: str, order_by: Sequence[str], database: str, cluster: Cluster) -> str:
    """The statement that replaces the table over all shards of `table`_local, with the columns of that."""
    by = "service" if "service" in order_by else order_by[0]
    return (
        f"CREATE OR REPLACE TABLE {table} {cluster.clause} AS {table}{LOCAL}"
        f" ENGINE = Distributed('{cluster.name}', '{database}', '{table}{LOCAL}', cityHash64({by}))"
    )


def order_by(text: str) -> tuple[str, list[str]] | None:
    """Name and columns of ORDER BY of the table that a statement creates; None for another statement."""
    match, order = _TABLE.match(text), _ORDER.search(text)
    if not match or not order:
        return None
    return match["name"], [column.strip() for column in order["columns"].split(",")]
