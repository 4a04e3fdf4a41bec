"""Status: a row of each process; the first recommendation."""

import datetime

from stack.first_recommendation import decided
from stack.status import row, table
from stack.supervisor import Process


def process(**changes: object) -> Process:
    facts = {"name": "kafka", "state": "RUNNING", "ready": True, "pid": 7, "restarts": 0, "exit_code": 0}
    facts |= {"started": datetime.datetime(2026, 1, 1, 11, 58, 30).timestamp(), "memory_bytes": 3 * 2**20}
    return Process(**(facts | changes))  # type: ignore[arg-type]


def test_a_running_process_shows_since_when() -> None:
    assert row(process()) == ("kafka", "up", "7", "2026-01-01 11:58:30", "0", "3 MiB")
    assert row(process(state="STARTING", restarts=2))[1::3] == ("up", "2")
    assert row(process(ready=False))[1] == "up, not ready"


def test_what_does_not_run_is_down() -> None:
    assert row(process(state="BACKOFF", exit_code=1)) == ("kafka", "down (backoff, exit code 1)", "-", "-", "0", "-")
    assert row(process(state="STOPPED", started=0.0))[1] == "down (not started)"
    assert not process(state="EXITED").up


def test_table_aligns_its_columns() -> None:
    assert table(("a", "b"), [("long", "x")]) == ["a     b", "long  x"]


def test_a_recommendation_is_there_when_one_pool_has_it() -> None:
    assert not decided([])
    assert not decided([{"state": "LEARNING"}, {"state": "NO_DATA"}])
    assert not decided([{"state": "LEARNING"}, {"state": "UNSATURATED"}])
    assert decided([{"state": "LEARNING"}, {"state": "GUARDED"}])
    assert decided([{"state": "PROVIDED"}])
