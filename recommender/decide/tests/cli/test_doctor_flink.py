"""`sluice doctor` of Flink: against a real small server, and answers judged by hand."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sluice.cli.doctor import flink, sinks
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.keeper import keeper_starts
from sluice.cli.environment import addresses
from sluice.cli.supervised import LocalProcess

from .http_server import FixedServer

NOW_S = datetime(2026, 3, 1, 12, 0, tzinfo=UTC).timestamp()


def flink_job(**more: Any) -> dict[str, Any]:
    return {"jid": "j1", "name": "sluice-streaming", "state": "RUNNING", "start-time": 1, "duration": 90_000} | more


def test_flink_over_http() -> None:
    answers: dict[str, Any] = {
        "/jobs/overview": {"jobs": [flink_job(jid="j0", state="CANCELED"), flink_job()]},
        "/jobs/j1/metrics?get=numRestarts": [{"id": "numRestarts", "value": "0"}],
        "/jobs/j1/exceptions": {"exceptionHistory": {"entries": []}},
        "/jobs/j1/checkpoints": {
            "counts": {"completed": 5, "failed": 0},
            "latest": {"completed": {"latest_ack_timestamp": int(time.time() * 1000) - 7_200_000}, "failed": None},
            "history": [{"id": 7, "status": "IN_PROGRESS"}, {"id": 6, "status": "COMPLETED"}],
        },
        "/jobs/j1/checkpoints/config": {"interval": 3_600_000},
        "/jobs/j1": {
            "start-time": 1000,
            "vertices": [{"id": "v1", "name": "Source: otlp_spans"}, {"id": "v2", "name": "calls[59]: Writer"}],
        },
        "/jobs/j1/vertices/v2/metrics": [{"id": "0.calls[59]__Writer.trouble"}, {"id": "0.Shuffle.x"}],
        "/jobs/j1/vertices/v2/metrics?get=0.calls%5B59%5D__Writer.trouble": [
            {"id": "0.calls[59]__Writer.trouble", "value": ""}
        ],
        "/jobs/j1/checkpoints/details/7": {
            "tasks": {
                "v1": {"num_acknowledged_subtasks": 2, "num_subtasks": 2},
                "v2": {"num_acknowledged_subtasks": 0, "num_subtasks": 1},
            }
        },
    }
    with FixedServer(answers) as server:
        where = addresses({"SLUICE_FLINK": server.url})
        assert flink.job(where, 2) == Diagnosis("ok", "sluice-streaming runs since 1.5 min")
        assert flink.restarts(where, 2) == Diagnosis("ok", "0 restarts")
        good = "last checkpoint 2.0 h ago, 5 completed, 0 failed"
        assert flink.checkpoints(where, 2) == Diagnosis("ok", good)
        assert flink.sinks(where, 2) == Diagnosis("ok", "every store takes its rows")
        answers["/jobs/j1/checkpoints/config"] = {"interval": 1000}
        held = flink.checkpoints(where, 2)
        assert (held.level, held.text) == ("fail", f"{good}; held up by checkpoint 7 waits for calls[59]: Writer")
        many = {f"t{number}": {"num_acknowledged_subtasks": 0, "num_subtasks": 1} for number in range(1, 8)}
        names = [{"id": task, "name": f"task {task}"} for task in many]
        answers |= {"/jobs/j1/checkpoints/details/7": {"tasks": many}}
        answers["/jobs/j1"]["vertices"] += names
        held = flink.checkpoints(where, 2)
        assert held.text.endswith("waits for task t1, task t2, task t3, task t4, task t5, 2 more tasks")
        answers["/jobs/j1/vertices/v2/metrics?get=0.calls%5B59%5D__Writer.trouble"][0]["value"] = "Neo4j: away"
        assert flink.sinks(where, 2).text == "calls: Neo4j: away"
        held = flink.checkpoints(where, 2)
        assert (held.level, held.text) == ("fail", f"{good}; held up by calls: Neo4j: away")
        answers["/jobs/overview"] = (500, "no")
        assert flink.job(where, 2).level == "fail"
        answers["/jobs/overview"] = "<html>"
        with pytest.raises(NotAnsweringError, match="did not answer JSON"):
            flink.restarts(where, 2)


def test_flink_job() -> None:
    assert flink.judge_job([]).text == "no job sluice-streaming"
    assert flink.judge_job([{"name": "other"}]).text == "no job sluice-streaming; jobs there: other"
    failed = flink.judge_job([flink_job(state="FAILED", **{"start-time": 9}), flink_job(state="CANCELED")])
    assert (failed.level, failed.text) == ("fail", "sluice-streaming is FAILED")
    assert flink.judge_job([flink_job(), flink_job()]).level == "warn"
    assert flink.judge_job([flink_job(state="INITIALIZING")]).level == "warn"
    assert flink.judge_job([flink_job(state="RESTARTING")]).level == "fail"


def test_a_job_that_the_keeper_starts_is_no_failure() -> None:
    def process(age_s: float, *words: str) -> LocalProcess:
        return LocalProcess(7, 1, age_s, words, {}, Path("/"), False)

    keeper, java = ("python", "-m", "stack.jobs"), ("java", "CliFrontend", "run", "--name", flink.JOB)
    assert keeper_starts([process(9, *keeper)], flink.JOB)
    assert not keeper_starts([process(61, *keeper)], flink.JOB)  # it waits, or its submissions fail
    assert keeper_starts([process(900, *keeper), process(100, *java)], flink.JOB)
    assert not keeper_starts([process(1, "java", "--name", "other"), process(1, "python", "-m", "stack")], flink.JOB)
    waits = flink.judge_job([], starting=True)
    assert (waits.level, waits.text) == ("warn", "no job sluice-streaming yet: its keeper starts it")
    assert "in a minute" in waits.remedy
    assert flink.judge_job([flink_job(state="FAILED")], starting=True).level == "fail"


def test_the_keeper_of_another_stack_starts_no_job_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = tmp_path / "stack/jobs.py"
    keeper.parent.mkdir()
    keeper.write_text("import time; print(flush=True); time.sleep(600)")
    words = [sys.executable, "-m", "stack.jobs"]
    environment = os.environ | {"SLUICE_SUPERVISED": "/here", "PYTHONPATH": str(tmp_path)}
    with (
        FixedServer({"/jobs/overview": {"jobs": []}}) as server,
        subprocess.Popen(words, env=environment, cwd=tmp_path, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        try:
            for state, level in (("/here", "warn"), ("/there", "fail"), ("", "fail")):
                monkeypatch.setenv("SLUICE_STATE", state)
                assert flink.job(addresses({"SLUICE_FLINK": server.url}), 2).level == level
        finally:
            process.kill()


def test_flink_restarts() -> None:
    entry = {"timestamp": (NOW_S - 30) * 1000, "exceptionName": "X", "stacktrace": "java.io.IOException: no\n\tat y"}
    diagnosis = flink.judge_restarts([{"value": "2"}], {"exceptionHistory": {"entries": [entry]}}, NOW_S)
    assert (diagnosis.level, diagnosis.text) == ("warn", "2 restarts; 30 s ago: java.io.IOException: no")
    assert flink.judge_restarts([], {}, NOW_S).level == "unknown"
    trace = "java.lang.Exception: state\n\tat y\nCaused by: a.B: no\n\t... 3 more\nCaused by: c.D: Sst size\n"
    broken = flink.judge_restarts([], {"exceptionHistory": {"entries": [entry | {"stacktrace": trace}]}}, NOW_S)
    assert broken.text.endswith("30 s ago: java.lang.Exception: state; caused by c.D: Sst size")
    # A job that has failed for good reports no metrics any more, but its last exception.
    failed = flink.judge_restarts([], {"exceptionHistory": {"entries": [entry]}}, NOW_S)
    assert (failed.level, "IOException: no" in failed.text) == ("warn", True)


def checkpoint_answer(age_s: float | None, failed: int, failed_ago_s: float = 1) -> dict[str, Any]:
    completed = None if age_s is None else {"latest_ack_timestamp": (NOW_S - age_s) * 1000}
    failure = {"failure_message": "timed out\nmore", "failure_timestamp": (NOW_S - failed_ago_s) * 1000}
    latest = {"completed": completed, "failed": failure if failed else None}
    return {"counts": {"completed": 3, "failed": failed}, "latest": latest}


def test_flink_checkpoints() -> None:
    assert flink.judge_checkpoints(checkpoint_answer(5, 0), NOW_S).level == "ok"
    assert flink.judge_checkpoints(checkpoint_answer(None, 0), NOW_S).level == "unknown"
    assert flink.judge_checkpoints(checkpoint_answer(None, 2), NOW_S).level == "warn"
    diagnosis = flink.judge_checkpoints(checkpoint_answer(5, 1), NOW_S)
    assert (diagnosis.level, diagnosis.text) == (
        "warn",
        "last checkpoint 5 s ago, 3 completed, 1 failed; last failure: timed out",
    )
    over = flink.judge_checkpoints(checkpoint_answer(5, 1, failed_ago_s=6), NOW_S)
    assert (over.level, over.text) == ("ok", diagnosis.text)
    diagnosis = flink.judge_checkpoints(checkpoint_answer(16, 0), NOW_S, overdue=True, held_by="calls: away")
    assert (diagnosis.level, diagnosis.text) == (
        "fail",
        "last checkpoint 16 s ago, 3 completed, 0 failed; held up by calls: away",
    )


def test_checkpoints_are_overdue_after_three_periods() -> None:
    started = NOW_S - 1000
    assert not flink.overdue(checkpoint_answer(15, 0), 5.0, started, NOW_S)
    assert flink.overdue(checkpoint_answer(15.1, 0), 5.0, started, NOW_S)
    assert not flink.overdue(checkpoint_answer(29, 0), 10.0, started, NOW_S)
    # The first may take a minute.
    assert not flink.overdue(checkpoint_answer(None, 0), 5.0, NOW_S - 60, NOW_S)
    assert flink.overdue(checkpoint_answer(None, 3), 5.0, NOW_S - 61, NOW_S)
    assert not flink.overdue(checkpoint_answer(None, 3), 30.0, NOW_S - 61, NOW_S)


def test_sinks_tell_what_is_wrong_each_once() -> None:
    metrics = [
        {"id": "0.calls[59]__Writer.trouble", "value": "Neo4j: has failed for 9 s: refused"},
        {"id": "1.calls[59]__Writer.trouble", "value": "Neo4j: has failed for 9 s: refused"},
        {"id": "0.seen[61]__Writer.ageing.trouble", "value": "nothing is removed"},
        {"id": "0.windows[9]__Writer.trouble", "value": ""},
    ]
    troubles = sinks.troubles_in(metrics)
    assert troubles == ["calls: Neo4j: has failed for 9 s: refused", "seen: nothing is removed"]
    assert sinks.judge_sinks(troubles).level == "warn"
    assert sinks.judge_sinks([]).level == "ok"
