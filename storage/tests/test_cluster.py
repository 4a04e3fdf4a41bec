"""The schema for several servers: the real engine parses every statement, and tests look at its form."""

import pytest
from clickhouse_connect.driver.client import Client

from migrate import clickhouse, definitions, migrations
from migrate.__main__ import CLICKHOUSE
from migrate.cluster import Cluster, bookkeeping, distributed, on_cluster, order_by
from migrate.errors import MigrateError
from sluice_kit.servers.clickhouse import ClickHouse

STATEMENTS = [statement for migration in migrations.load(CLICKHOUSE) for statement in migration.statements()]
REPLACED = [
    *definitions.load(CLICKHOUSE / "functions", "FUNCTION"),
    *definitions.load(CLICKHOUSE / "views", "VIEW"),
]
MADE = dict(made for statement in STATEMENTS if (made := order_by(statement.text)))
ONE, SHARDED = Cluster("main"), Cluster("main", sharded=True)


def rendered(cluster: Cluster) -> list[str]:
    texts = bookkeeping("sluice", cluster) + [
        on_cluster(statement.text, cluster, list(MADE)) for statement in [*STATEMENTS, *REPLACED]
    ]
    return texts + [distributed(table, by, "sluice", cluster) for table, by in MADE.items() if cluster.sharded]


@pytest.mark.integration
@pytest.mark.parametrize("cluster", [ONE, SHARDED])
def test_the_engine_parses_every_statement(engine: ClickHouse, cluster: Cluster) -> None:
    client: Client = engine.client()
    for text in rendered(cluster):
        assert "ON CLUSTER 'main'" in text
        # formatQuery parses as the server does, and knows every kind of statement.
        formatted = client.query("SELECT formatQuery({text:String})", parameters={"text": text}).result_rows[0][0]
        assert "ON CLUSTER" in formatted


@pytest.mark.parametrize("cluster", [ONE, SHARDED])
def test_every_table_is_replicated(cluster: Cluster) -> None:
    texts = [text for text in rendered(cluster) if "MergeTree" in text]
    assert len(texts) == len(MADE) + 1
    assert not [text for text in texts if "ENGINE = Replicated" not in text]


def test_on_one_shard_tables_keep_their_names() -> None:
    assert not [text for text in rendered(ONE) if "_local" in text]


def test_on_several_shards_each_has_a_table_of_its_own_under_one_over_all() -> None:
    texts = rendered(SHARDED)
    windows = next(text for text in texts if text.startswith("CREATE TABLE IF NOT EXISTS windows_local "))
    assert "ENGINE = ReplicatedReplacingMergeTree(version)" in windows
    over = "Distributed('main', 'sluice', 'windows_local', cityHash64(service))"
    assert any(over in text for text in texts)
    (fills,) = [text for text in texts if text.startswith("CREATE MATERIALIZED VIEW IF NOT EXISTS fill_windows_1s ")]
    assert "APPEND TO windows_1s_local" in fills
    assert "FROM windows_local AS s FINAL" in fills
    assert "FROM windows " not in fills


def test_what_a_migration_alters_or_drops_is_the_table_that_has_the_rows() -> None:
    assert on_cluster("ALTER TABLE windows ADD COLUMN x Int8", SHARDED, list(MADE)).startswith(
        "ALTER TABLE windows_local ON CLUSTER 'main' ADD"
    )
    assert on_cluster("ALTER TABLE fill_windows_1s MODIFY", SHARDED, list(MADE)).startswith(
        "ALTER TABLE fill_windows_1s ON CLUSTER"
    )
    assert on_cluster("DROP TABLE IF EXISTS windows", SHARDED, list(MADE)) == (
        "DROP TABLE IF EXISTS windows_local ON CLUSTER 'main' SYNC"
    )


def test_rows_of_one_key_are_of_one_shard() -> None:
    """The hash is of a column of ORDER BY: else a row and its later version could lie apart."""
    for table, columns in MADE.items():
        text = distributed(table, columns, "sluice", SHARDED)
        by = text.rpartition("cityHash64(")[2].removesuffix("))")
        assert by in columns


def test_a_statement_that_is_not_known_and_a_name_that_is_none_are_errors() -> None:
    with pytest.raises(MigrateError, match="no known statement"):
        on_cluster("OPTIMIZE TABLE windows", ONE, ["windows"])
    with pytest.raises(MigrateError, match="expected a name"):
        Cluster("a' --")


@pytest.mark.integration
def test_a_cluster_that_the_server_does_not_know_and_a_database_made_without_one_are_errors(
    client: Client, database: str
) -> None:
    with pytest.raises(MigrateError, match="knows no such cluster"):
        clickhouse.cluster_of(client, "absent")
    with pytest.raises(MigrateError, match="made without --cluster"):
        clickhouse.prepare(client, database, ONE)
