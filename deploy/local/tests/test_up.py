"""`up`: two at once do not disturb each other."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stack import up
from stack.report import Report
from stack.settings import load
from stack.steps import StepError


def test_whether_the_stack_is_up_is_asked_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it, the processes that another `up` is starting would count as orphans, and their ports as taken."""
    events: list[str] = []

    @contextmanager
    def lock(_report: Report) -> Iterator[None]:
        events.append("locked")
        yield

    class Running:
        def is_up(self) -> bool:
            events.append("looked")
            return True

    monkeypatch.setattr(up, "setup_lock", lock)
    monkeypatch.setattr(up, "Supervisor", lambda _settings: Running())
    monkeypatch.setattr("stack.flink.check_options", lambda _settings: None)
    monkeypatch.setattr(up, "stop_orphans", lambda *_: events.append("stopped orphans"))
    with pytest.raises(StepError, match="is up already"):
        up.up(load({}), Report(io.StringIO()), demo=False, apply=["all"])
    assert events == ["locked", "looked"]
