"""Processes of a stack are found by their environment, also without a supervisor, and stopped."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack import processes
from stack.environment import SUPERVISED


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    child = subprocess.Popen(["sleep", "60"], env=os.environ | {SUPERVISED: str(tmp_path)})
    yield child
    child.kill()
    child.wait()


def test_only_processes_of_this_stack_are_found(tmp_path: Path, sleeper: "subprocess.Popen[bytes]") -> None:
    assert processes.of_stack(tmp_path) == {sleeper.pid: "sleep 60"}
    assert processes.of_stack(tmp_path / "another") == {}


def test_stop_asks_first(tmp_path: Path, sleeper: "subprocess.Popen[bytes]") -> None:
    assert processes.stop(lambda: processes.of_stack(tmp_path), 10.0) == []
    assert sleeper.wait(5) == -15


def test_stop_kills_what_does_not_listen_and_says_which(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    child = subprocess.Popen(
        [sys.executable, "-c", deaf], env=os.environ | {SUPERVISED: str(tmp_path)}, stdout=subprocess.PIPE
    )
    assert child.stdout
    with child.stdout:
        child.stdout.readline()
        assert processes.stop(lambda: processes.of_stack(tmp_path), 0.5) == [child.pid]
    assert child.wait(5) == -9
