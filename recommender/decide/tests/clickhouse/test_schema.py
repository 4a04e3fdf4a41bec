"""The schema's version that the decider needs."""

from typing import Any

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError

from migrate import migrations
from migrate.__main__ import CLICKHOUSE
from sluice.clickhouse.connection import ClickHouse as Connection
from sluice.clickhouse.schema import NEEDED, lacking
from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse


def test_the_needed_version_is_storage_s_newest() -> None:
    assert migrations.load(CLICKHOUSE)[-1].version == NEEDED


class Answers:
    def __init__(self, records: int, newest: int, error: Exception | None = None) -> None:
        self._columns, self._error = [[records], [newest]], error

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        if self._error:
            raise self._error
        return self._columns


def test_versions() -> None:
    assert lacking(Answers(1, 0), needed=0) == lacking(Answers(3, 7), needed=5) == ""
    # Version 0 is the first schema: an empty table has not even that.
    assert lacking(Answers(0, 0), needed=0) == "have none, need 0; run `sluice-migrate up`"
    assert lacking(Answers(2, 4), needed=5) == "have 4, need 5; run `sluice-migrate up`"


@pytest.mark.integration
def test_on_the_engine(engine: ClickHouse, database: ClickHouse) -> None:
    assert lacking(Connection(engine.url, "sluice_reader")) == ""
    there = Connection(engine.url, WRITER, PASSWORD, database="system")
    assert lacking(there) == f"have none, need {NEEDED}; run `sluice-migrate up`"
    nowhere = Connection(engine.url, WRITER, PASSWORD, database="nowhere")
    assert lacking(nowhere) == f"have none, need {NEEDED}; run `sluice-migrate up`"
    denied = DatabaseError("not enough privileges")
    denied.code = 497
    with pytest.raises(DatabaseError):
        lacking(Answers(0, 0, denied))
