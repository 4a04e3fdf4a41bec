"""Faults that tests put into a stack: the schedules, and that a disk is full and a connection cut while they last."""

import errno
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sluice_kit.faults import disks
from sluice_kit.faults.kinds import ALL, ASKS, FOLDERS, KINDS, PROCESSES
from sluice_kit.faults.network import Cut, cut, possible
from sluice_kit.faults.schedule import LONGEST_S, SHORTEST_S, schedule

needs_disks = pytest.mark.skipif(not disks.possible(), reason="needs root, mkfs.ext4, fsfreeze and loop devices")
needs_cuts = pytest.mark.skipif(not possible(), reason="needs root, apt-get and cgroups of version 2")
ASKING = """
import socket, sys
kept = None
for line in sys.stdin:
    try:
        if line == "again\\n":
            kept.sendall(b"x")
            print(kept.recv(10).decode(), flush=True)
            continue
        kept = socket.create_connection(("127.0.0.1", int(line)), timeout=1)
        kept.settimeout(1)
        print(kept.recv(10).decode(), flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)
"""


def test_a_seed_gives_one_schedule_of_legal_faults() -> None:
    faults = schedule(7, 500)
    assert faults == schedule(7, 500) != schedule(8, 500)
    assert {fault.kind for fault in faults} == set(KINDS)
    for fault in faults:
        assert "kill" in fault.kind or SHORTEST_S <= fault.seconds <= LONGEST_S
        assert fault.victim in (*(FOLDERS if "disk" in fault.kind else PROCESSES), ALL)
        assert not fault.peer or (fault.victim, fault.peer) in ASKS


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[disks.Disk]:
    (place := tmp_path / "place").mkdir()
    with disks.disks({"one": place}, tmp_path, 16 << 20) as made:
        yield made["one"]


@needs_disks
def test_a_full_disk_refuses_a_byte_and_is_as_before_afterwards(disk: disks.Disk) -> None:
    with disk.full(), pytest.raises(OSError, match="No space") as refused:
        (disk.place / "new").write_bytes(bytes(4096))
    assert refused.value.errno == errno.ENOSPC
    (disk.place / "new").write_bytes(bytes(1 << 20))
    assert sorted(os.listdir(disk.place)) == ["new"]


@needs_disks
def test_a_power_cut_leaves_what_was_synced(disk: disks.Disk) -> None:
    synced, lost = disk.place / "synced", disk.place / "lost"
    with synced.open("wb") as file:
        file.write(bytes(100))
        file.flush()
        os.fsync(file.fileno())
    lost.write_bytes(bytes(100))
    disk.lose_unsynced()
    assert synced.read_bytes() == bytes(100)
    assert not lost.exists() or lost.stat().st_size == 0


@needs_disks
def test_a_write_returns_once_the_disk_moves_again(disk: disks.Disk) -> None:
    wrote = threading.Event()

    def write() -> None:
        (disk.place / "new").write_bytes(b"1")
        wrote.set()

    with disk.still():
        threading.Thread(target=write, daemon=True).start()
        assert not wrote.wait(0.3)
    assert wrote.wait(60)


@needs_cuts
@pytest.mark.long
@pytest.mark.parametrize("ways", [(Cut.REQUESTS,), (Cut.ANSWERS,), (Cut.REQUESTS, Cut.ANSWERS)])
def test_only_the_process_that_is_cut_reaches_nothing(ways: tuple[Cut, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, asking() as one, asking() as other:
        port = server.getsockname()[1]
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        assert [ask(one, port), ask(one, "again")] == ["hello", "x"]
        with cut(one.pid, port, *ways):
            assert ask(other, port) == "hello"
            assert ask(one, "again") == "TimeoutError"  # a connection that was there
            assert ask(one, port) == "TimeoutError"
        assert ask(one, port) == "hello"


def asking() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", ASKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: "subprocess.Popen[str]", port: int | str) -> str:
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{port}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def answer(server: socket.socket) -> None:
    """Says hello to who connects, and then what it gets."""

    def talk(link: socket.socket) -> None:
        with link, suppress(OSError):
            link.sendall(b"hello")
            while text := link.recv(10):
                link.sendall(text)

    with suppress(OSError):
        while True:
            threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
