"""Processes that a signal holds are named with the command that lets them go on."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from sluice.cli.doctor.suspended import judge_suspended, suspended
from sluice.cli.environment import addresses
from sluice.cli.supervised import SUPERVISED, LocalProcess, of_stack
from sluice_kit.waiting import until


def process(pid: int, name: str, *, held: bool) -> LocalProcess:
    environment = {"SUPERVISOR_PROCESS_NAME": name} if name else {}
    return LocalProcess(pid, 1, 60.0, ("python", "-m", "stack.jobs"), environment, Path("/"), held)


def test_held_processes_are_named_and_others_not() -> None:
    assert judge_suspended([process(7, "kafka", held=False)]).level == "ok"
    found = judge_suspended([process(7, "kafka", held=False), process(8, "jobs", held=True), process(9, "", held=True)])
    assert (found.level, found.text) == ("fail", "held by a signal: jobs (8), python (9)")
    assert found.remedy == "kill -CONT 8 9"


def test_a_process_that_is_stopped_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def level() -> str:
        return suspended(addresses({}), 1.0).level

    monkeypatch.setenv("SLUICE_STATE", str(tmp_path))
    with subprocess.Popen(["sleep", "60"], env=os.environ | {SUPERVISED: str(tmp_path)}) as child:
        try:
            until("the process is of the stack", lambda: [one.pid for one in of_stack(str(tmp_path))] == [child.pid])
            assert level() == "ok"
            child.send_signal(signal.SIGSTOP)
            until("it is held", lambda: level() == "fail")
            child.send_signal(signal.SIGCONT)
            until("it goes on", lambda: level() == "ok")
        finally:
            child.kill()


def test_without_a_stack_on_this_host_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_STATE", raising=False)
    assert suspended(addresses({}), 1.0).level == "ok"
