"""`up`: two at once do not disturb each other; what the machine refuses is said without a traceback."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stack import __main__, up
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


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_refuses_is_named(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/srv/sluice/.cache")

    page = io.StringIO()
    monkeypatch.setattr(__main__, "Report", lambda: Report(page))
    monkeypatch.setattr(__main__, "set_up", refused)
    monkeypatch.setattr("sys.argv", ["stack", "setup"])
    assert __main__.main() == 1
    assert f"/srv/sluice/.cache: {os.strerror(number)}" in page.getvalue()
    assert __main__.REFUSED[number] in page.getvalue()


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(__main__, "set_up", broken)
    monkeypatch.setattr("sys.argv", ["stack", "setup"])
    with pytest.raises(OSError, match="Bad file"):
        __main__.main()
