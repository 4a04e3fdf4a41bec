"""The keeper of the streaming job: what it does about a submission that fails."""

import threading

import pytest

from stack import jobs
from stack.flink import SubmissionError
from stack.jobs import JobKeeper
from stack.keeper import Job, Snapshot
from stack.settings import Settings, load

OLD, NEW = Snapshot("/chk-6", 100.0), Snapshot("/chk-7", 200.0)
CUT_SHORT = "Caused by: java.io.EOFException\n\tat o.a.f.checkpoint.Checkpoints.loadCheckpointMetadata(x.java:1)\n"


class _Idle:
    """A cluster with a slot, and no job."""

    def jobs(self) -> list[Job]:
        return []

    def free_slots(self) -> int:
        return 1


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The snapshots of submissions; each fails as the file of NEW is cut short, and that of OLD is whole."""
    paths: list[str] = []

    def submit(settings: Settings, snapshot: Snapshot | None) -> None:
        paths.append(snapshot.path if snapshot else "")
        if snapshot == NEW:
            raise SubmissionError("exit code 1: java.io.EOFException", CUT_SHORT)
        raise SubmissionError("exit code 1: Connection refused", "Connection refused")

    monkeypatch.setattr(jobs, "submit", submit)
    monkeypatch.setattr(jobs, "snapshots", lambda settings: [OLD, NEW])
    monkeypatch.setattr(jobs, "missing_schema", lambda: "")
    return paths


def test_a_broken_snapshot_is_tried_once_and_others_three_times(
    submitted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = JobKeeper(load({}), threading.Event())
    keeper._flink = _Idle()  # type: ignore[assignment]
    for _ in range(5):
        assert not keeper._step()
    assert submitted == ["/chk-7", "/chk-6", "/chk-6", "/chk-6", ""]
    printed = capsys.readouterr().out
    assert "cannot read /chk-7, so an older snapshot is next: exit code 1: java.io.EOFException" in printed
    assert "submission failed: exit code 1: Connection refused" in printed
