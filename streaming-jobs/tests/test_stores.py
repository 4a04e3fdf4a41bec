"""How long rows wait for their insert."""

import itertools
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
    values |= {"windows-flush-ms": 30, "flush-ms": 70, "summary-flush-ms": 900}
    text = "".join(stores.definitions(settings.Settings(settings.Addresses.from_environment({}), values)))
    found = re.findall(r"TABLE (\w+) \(|'sink.buffer-flush.interval' = '(\d+) ms'", text)
    waits = {table: int(wait) for (table, _), (_, wait) in itertools.pairwise(found) if table and wait}
    assert waits["windows"] == 30
    assert waits["service_sampling"] == waits["pool_metrics"] == waits["calls"] == 70
    assert waits["ingest_counts"] == waits["call_edges"] == waits["resource_metrics"] == 900
    assert set(waits.values()) == {30, 70, 900}
