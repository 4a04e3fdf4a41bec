"""What the read-only user may not do, and that its limits hold unasked."""

import pytest
from clickhouse_connect.driver.client import Client

from sluice_kit.servers.rows import rows


@pytest.mark.parametrize(
    "setting",
    [
        *("max_execution_time = 0", "max_execution_time = 31", "max_memory_usage = 0", "max_memory_usage_for_user = 0"),
        *("max_temporary_data_on_disk_size_for_query = 0", "max_result_rows = 0"),
    ],
)
def test_reader_cannot_lift_its_limits(reader: Client, setting: str) -> None:
    with pytest.raises(Exception, match="SETTING_CONSTRAINT_VIOLATION"):
        reader.query(f"SELECT 1 SETTINGS {setting}")
    assert reader.query("SELECT 1 SETTINGS max_execution_time = 25").result_rows == [(1,)]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT length(groupArray(number)) FROM numbers(200000000)", "MEMORY_LIMIT_EXCEEDED"),
        (
            "SELECT sum(sipHash64(number)) FROM numbers(1000000000000) SETTINGS max_execution_time = 1",
            "TIMEOUT_EXCEEDED",
        ),
        ("SELECT number FROM numbers(1000001)", "TOO_MANY_ROWS_OR_BYTES"),
    ],
)
def test_a_query_that_is_too_heavy_is_ended(reader: Client, query: str, code: str) -> None:
    with pytest.raises(Exception, match=code):
        reader.query(query)
    assert rows(reader, "SELECT count() AS n FROM windows")[0]["n"] > 0  # and others go on


def test_the_limits_hold_without_being_asked_for(reader: Client) -> None:
    query = (
        "SELECT name, value FROM system.settings WHERE name IN ('max_execution_time', 'max_memory_usage', 'readonly')"
    )
    assert {row["name"]: row["value"] for row in rows(reader, query)} == {
        "max_execution_time": "30",
        "max_memory_usage": "536870912",
        "readonly": "2",
    }


@pytest.mark.parametrize(
    "source", ["file('/etc/hostname', 'LineAsString')", "url('http://127.0.0.1:1/', 'LineAsString')"]
)
def test_reader_reads_nothing_outside(reader: Client, source: str) -> None:
    with pytest.raises(Exception, match="ACCESS_DENIED"):
        reader.query(f"SELECT * FROM {source}")


def test_reader_cannot_write(reader: Client) -> None:
    for statement in (
        "INSERT INTO recommendations (service) VALUES ('x')",
        "ALTER TABLE windows DELETE WHERE 1",
        "TRUNCATE TABLE windows",
        "DROP VIEW v_windows",
        "CREATE TABLE stolen (a UInt8) ENGINE = Memory",
    ):
        with pytest.raises(Exception, match=r"READONLY|ACCESS_DENIED"):
            reader.command(statement)
    assert rows(reader, "SELECT count() AS n FROM windows")[0]["n"] > 0
