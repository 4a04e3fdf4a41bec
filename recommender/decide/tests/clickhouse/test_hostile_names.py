"""Names that no honest sender of spans has reach a real ClickHouse as they are, and change no statement."""

import pytest

from sluice.clickhouse.connection import ClickHouse
from sluice_kit.hostile import TEXTS
from sluice_kit.servers import clickhouse

pytestmark = pytest.mark.integration
MORE = ("\\", "\\'", "a\tb", "a\nb", "\\N", "{name:String}", "'", '"', "`", "a\\nb")


@pytest.fixture
def connected(database: clickhouse.ClickHouse) -> ClickHouse:
    return ClickHouse(database.url, clickhouse.WRITER, clickhouse.PASSWORD)


@pytest.mark.parametrize("name", [*TEXTS, *MORE], ids=lambda name: ascii(name)[:30])
def test_a_parameter_is_the_name(connected: ClickHouse, name: str) -> None:
    assert connected.columns("SELECT {name:String}, length({name:String})", {"name": name}) == [
        [name],
        [len(name.encode())],
    ]


def test_an_array_of_names_is_these_names(connected: ClickHouse) -> None:
    names = [*TEXTS, *MORE]
    (column,) = connected.columns("SELECT arrayJoin({names:Array(String)})", {"names": names})
    assert list(column) == names
