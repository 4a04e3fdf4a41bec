"""The same schema on several servers: each statement as it is said to a cluster. Pure: texts in, texts out.

Tables are replicated; of more than one shard, each holds `NAME_local`, and NAME is a Distributed table over them. Rows
with the same key are of one shard, as their place is a hash of a column of ORDER BY.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from migrate.errors import MigrateError

_NAME = r"`?(?P<name>\w+)`?"
_TABLE = re.compile(rf"^CREATE TABLE (?P<if>IF NOT EXISTS )?{_NAME}(?P<rest>.*)$", re.DOTALL)
_ENGINE = re.compile(r"^ENGINE = (?P<kind>(?:Replacing)?MergeTree)(?P<arguments>\([^)]*\))?", re.MULTILINE)
_ORDER = re.compile(r"^ORDER BY \(?(?P<columns>[^)\n]*)\)?", re.MULTILINE)
# Where ON CLUSTER goes: behind the name.
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
    def words(self) -> str:
        return f"ON CLUSTER '{self.name}'"

    def stored(self, table: str) -> str:
        """The table that holds the rows."""
        return table + LOCAL if self.sharded else table


def said(text: str, cluster: Cluster, tables: Sequence[str]) -> str:
    """A statement of a migration, a view or a function, for all servers. tables: those that there are, by their names
    here."""
    if found := _TABLE.match(text):
        return _table(found, cluster)
    if found := _OTHERS.match(text):
        name, rest = found["name"], found["rest"]
        if found["head"] in ("ALTER TABLE", "DROP TABLE IF EXISTS") and name in tables:
            name = cluster.stored(name)
        if found["head"].startswith("CREATE MATERIALIZED"):
            rest = _among_stored(rest, cluster, tables)  # each shard fills from its own rows
        last = " SYNC" if found["head"].startswith("DROP") else ""
        return f"{found['head']} {name} {cluster.words}{rest}{last}"
    raise MigrateError(f"say to a cluster: {text.splitlines()[0][:80]!r} is no statement that is known")


def _table(found: re.Match[str], cluster: Cluster) -> str:
    rest, changes = _ENGINE.subn(
        lambda engine: f"ENGINE = Replicated{engine['kind']}{engine['arguments'] or ''}", found["rest"]
    )
    if changes != 1:
        raise MigrateError(f"say to a cluster: {found['name']} has no MergeTree for an engine")
    return f"CREATE TABLE {found['if'] or ''}{cluster.stored(found['name'])} {cluster.words}{rest}"


def _among_stored(text: str, cluster: Cluster, tables: Sequence[str]) -> str:
    if not cluster.sharded:
        return text
    names = "|".join(map(re.escape, tables))
    return re.sub(rf"\b(FROM|TO|JOIN) ({names})\b", rf"\1 \2{LOCAL}", text)


def book(database: str, cluster: Cluster) -> list[str]:
    """The database and its table of migrations, which every server of every shard has."""
    return [
        f"CREATE DATABASE IF NOT EXISTS `{database}` {cluster.words}",
        f"""CREATE TABLE IF NOT EXISTS `{database}`.schema_migrations {cluster.words}
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
    """The table over all shards of `table`_local, made anew to have its columns."""
    by = "service" if "service" in order_by else order_by[0]
    return (
        f"CREATE OR REPLACE TABLE {table} {cluster.words} AS {table}{LOCAL}"
        f" ENGINE = Distributed('{cluster.name}', '{database}', '{table}{LOCAL}', cityHash64({by}))"
    )


def order_by(text: str) -> tuple[str, list[str]] | None:
    """Name and columns of ORDER BY of the table that a statement makes, if it makes one."""
    found, order = _TABLE.match(text), _ORDER.search(text)
    if not found or not order:
        return None
    return found["name"], [column.strip() for column in order["columns"].split(",")]
