"""Threads that wait for a disk are named by their process; those that ran meanwhile are not."""

import os
from pathlib import Path

import pytest

from sluice.cli.doctor.waiting import Waits, disk_waits, judge_waits, waits
from sluice.cli.environment import addresses
from sluice.cli.supervised import SUPERVISED


def judged(*looks: Waits) -> tuple[str, str, list[float]]:
    slept: list[float] = []
    left = iter(looks)
    found = judge_waits(lambda: next(left), slept.append)
    return found.level, found.text, slept


def test_a_thread_that_has_not_run_for_two_seconds_waits_for_its_disk() -> None:
    before = {("kafka (7)", 70): 5, ("kafka (7)", 71): 9, ("neo4j (8)", 80): 3, ("flink (9)", 90): 1}
    now = {("kafka (7)", 70): 5, ("kafka (7)", 71): 9, ("neo4j (8)", 80): 4, ("collector (6)", 60): 2}
    assert judged(before, now) == ("warn", "have waited for a disk for 2 s: kafka (7)", [2.0])


def test_without_a_thread_that_waits_nobody_looks_again() -> None:
    assert judged({}) == ("ok", "no thread waits for one", [])


def thread(proc: Path, pid: int, number: int, state: str) -> None:
    folder = proc / str(pid) / "task" / str(number)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{number} (a b) c) {state} 1 1")
    (folder / "status").write_text("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n")


def test_threads_in_state_d_of_this_stack(tmp_path: Path) -> None:
    for pid, stack in ((7, "/var/one"), (8, "/var/other")):
        for number, state in ((pid, "S"), (10 * pid, "D")):
            thread(tmp_path, pid, number, state)
        (tmp_path / str(pid) / "cmdline").write_bytes(b"java\0kafka.Kafka\0")
        (tmp_path / str(pid) / "environ").write_bytes(f"{SUPERVISED}={stack}\0SUPERVISOR_PROCESS_NAME=kafka\0".encode())
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (java) S 1 " + "0 " * 30)
        os.symlink("/", tmp_path / str(pid) / "cwd")
    assert waits("/var/one", tmp_path) == {("kafka (7)", 70): 15}


def test_without_a_stack_on_this_host_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_STATE", raising=False)
    assert disk_waits(addresses({}), 1.0).level == "ok"
