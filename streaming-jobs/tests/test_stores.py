"""How long rows wait for their insert."""

import re
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"


@pytest.fixture(autouse=True)
def jobs_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])


def test_what_decisions_wait_for_is_written_sooner_than_the_rest() -> None:
    import settings
    import stores

    values = {name: setting.default for name, setting in settings.SETTINGS.items()}
    soon = ("windows", "service_sampling")
    values |= {"flush-ms": 70, "summary-flush-ms": 900}
    text = "".join(stores.definitions(settings.Settings(settings.Addresses.from_environment({}), values)))
    waits = dict(
        re.findall(r"CREATE TEMPORARY TABLE (\w+) .*?'sink.buffer-flush.interval' = '(\d+ ms)'", text, re.DOTALL)
    )
    assert {table for table, wait in waits.items() if wait == "70 ms"} == {
        "windows",
        "calls",
        "seen",
        "operation_trees",
    }
    assert {wait for table, wait in waits.items() if table in ("ingest_counts", "call_edges")} == {"900 ms"}
