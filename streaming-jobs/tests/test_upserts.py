"""INSERTs by the names of columns; no Flink is needed."""

import re
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"
EXAMPLE = {
    "window_s": "INT NOT NULL",
    "window": "TIMESTAMP_LTZ(3) NOT NULL",
    "job": "STRING NOT NULL",
    "partition": "INT NOT NULL",
    "calls": "BIGINT NOT NULL",
    "lowest": "BIGINT NOT NULL",
    "latency": "MAP<SMALLINT, INT>",
    "version": "BIGINT NOT NULL",
}


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])
    import tables

    monkeypatch.setitem(tables.COLUMNS, "example", EXAMPLE)
    monkeypatch.setitem(tables.KEYS, "example", "window job partition")


def words(text: str) -> str:
    return " ".join(text.split())


def test_sums_are_by_the_key() -> None:
    import upserts

    text = upserts.insert_sums(
        "example", "parts", seconds=True, job="'edges'", window_s="10", lowest="MIN(lowest)", version="SUM(calls)"
    )
    assert words(text) == (
        "INSERT INTO example SELECT 10, TO_TIMESTAMP_LTZ(window_start, 0), 'edges', `partition`, SUM(calls), "
        "MIN(lowest), merge_latency(latency), SUM(calls) FROM parts GROUP BY window_start, `partition`"
    )


def test_rows_are_taken_as_they_are() -> None:
    import upserts

    text = upserts.insert("example", "sums", "s.{}", job="flow", window_s="10")
    assert words(text) == (
        "INSERT INTO example SELECT 10, window_start, flow, `partition`, s.calls, s.lowest, s.latency, s.version "
        "FROM sums"
    )
    assert upserts.keys("example") == "window_start, job, `partition`"


def test_the_table_is_defined_with_its_key() -> None:
    import upserts

    assert words(upserts.definition("example")) == (
        "window_s INT NOT NULL, `window` TIMESTAMP_LTZ(3) NOT NULL, job STRING NOT NULL, `partition` INT NOT NULL, "
        "calls BIGINT NOT NULL, lowest BIGINT NOT NULL, latency MAP<SMALLINT, INT>, version BIGINT NOT NULL, "
        "PRIMARY KEY (`window`, job, `partition`) NOT ENFORCED"
    )


def test_an_unknown_column_is_named() -> None:
    import upserts

    with pytest.raises(ValueError, match="insert into example: no column errors; expected window_s, window, job"):
        upserts.insert("example", "sums", errors="0")


def selections() -> dict[str, list[str]]:
    """The expressions that each INSERT into ClickHouse selects, by table and source; of all jobs."""
    import gaps
    import run
    from settings import SETTINGS, Addresses, Settings
    from tables import COLUMNS

    settings = Settings(Addresses.from_environment({}), {name: setting.default for name, setting in SETTINGS.items()})
    expressions = {}
    inserts = [insert for job in run.JOBS.values() for insert in job.inserts(settings)]
    for text in [*inserts, gaps.insert(settings, ["a"])]:
        into, rest = words(text).removeprefix("INSERT INTO ").split(" SELECT ", 1)
        columns, source = rest.split(" FROM ", 1)
        if into in COLUMNS:
            expressions[f"{into} from {source}"] = re.split(r", (?![^(]*\))", columns)
    return expressions


def test_no_insert_goes_by_the_order_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sums of one type, the other way round in the table's file, would be exchanged without a word."""
    import tables

    before = selections()
    assert {insert.split()[0] for insert in before} == {*tables.COLUMNS} - {"example"}
    for name, columns in tables.COLUMNS.items():
        monkeypatch.setitem(tables.COLUMNS, name, dict(reversed(columns.items())))
    assert selections() == {insert: columns[::-1] for insert, columns in before.items()}
