"""A view that shows rows of a table takes its columns from the table: one that is added is in it after the next run."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import migrate.__main__ as command
from sluice_kit.servers.clickhouse import ClickHouse

# Views that show rows of a table, not sums over them, and the table.
SHOWN = {
    "v_windows": "windows",
    "v_windows_1s": "windows_1s",
    "v_windows_10s": "windows_10s",
    "v_windows_1m": "windows_1m",
    "v_data_sizes": "data_sizes",
    "v_call_graph": "call_edges",
    "v_pool_now": "recommendations",
    "v_recommendation_history": "recommendations",
    "v_actuation_history": "actuations",
    "v_subset_now": "subsets",
    "v_tuning_trials": "tuning_trials",
}
ADDED = "of_a_test"


def columns(engine: ClickHouse, table: str) -> list[str]:
    query = "SELECT name FROM system.columns WHERE database = 'grown' AND table = {table:String} ORDER BY position"
    return [row[0] for row in engine.client().query(query, parameters={"table": table}).result_rows]


@pytest.fixture(scope="module")
def grown(engine: ClickHouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The schema, and then a migration that adds a column to each table: the columns of each view before that."""
    copy = tmp_path_factory.mktemp("schema") / "clickhouse"
    shutil.copytree(command.CLICKHOUSE, copy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "CLICKHOUSE", copy)
        command.schema_up(engine.writer_url, "grown", wait_s=5)
        before = {view: columns(engine, view) for view in SHOWN}
        migration: Path = copy / "migrations/9999_grown.sql"
        migration.parent.mkdir(exist_ok=True)
        migration.write_text(
            "".join(f"ALTER TABLE {table} ADD COLUMN {ADDED} Int8;\n" for table in sorted({*SHOWN.values()}))
        )
        command.schema_up(engine.writer_url, "grown", wait_s=5)
    yield before
    engine.client().command("DROP DATABASE grown SYNC")


@pytest.mark.integration
@pytest.mark.parametrize("view", SHOWN)
def test_a_column_that_is_added_is_in_the_view(engine: ClickHouse, grown: dict[str, list[str]], view: str) -> None:
    after = columns(engine, view)
    assert ADDED in after
    assert [name for name in after if name != ADDED] == grown[view]


@pytest.mark.integration
@pytest.mark.parametrize("view", SHOWN)
def test_columns_have_plain_names(grown: dict[str, list[str]], view: str) -> None:
    """Of a join, * may give `a.service`."""
    assert [name for name in grown[view] if not name.isidentifier()] == []
