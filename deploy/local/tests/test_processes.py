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
def idler(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """It has answered when a test begins: for an instant after the start, the kernel does not show its environment."""
    marked = os.environ | {SUPERVISED: str(tmp_path)}
    child = subprocess.Popen(["cat"], env=marked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin
    assert child.stdout
    child.stdin.write(b"up\n")
    assert child.stdout.readline() == b"up\n"
    yield child
    child.kill()
    child.communicate()


def test_only_processes_of_this_stack_are_found(tmp_path: Path, idler: "subprocess.Popen[bytes]") -> None:
    assert processes.of_stack(tmp_path) == {idler.pid: "cat"}
    assert processes.of_stack(tmp_path / "another") == {}


def test_stop_asks_first(tmp_path: Path, idler: "subprocess.Popen[bytes]") -> None:
    assert processes.stop(lambda: processes.of_stack(tmp_path), 10.0) == []
    assert idler.wait(5) == -15


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
