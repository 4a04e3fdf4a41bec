"""Faults that tests put into a stack: the schedules, and that a disk is full and a connection cut while they last."""

import errno
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sluice.cli.doctor.waiting import disk_waits
from sluice.cli.environment import addresses
from sluice.cli.supervised import SUPERVISED
from sluice_kit.faults import clock, disks, memory
from sluice_kit.faults.counted import with_new
from sluice_kit.faults.kinds import ALL, ALLOCATE, ASKS, FOLDERS, KINDS, OF_DISKS, PROCESSES
from sluice_kit.faults.network import Cut, cut, possible, reset, slow
from sluice_kit.faults.schedule import LONGEST_S, SHORTEST_S, schedule
from sluice_kit.waiting import until

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
        kept = socket.create_connection(("127.0.0.1", int(line)), timeout=2)
        kept.settimeout(2)
        print(kept.recv(10).decode(), flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)
"""


def test_findings_are_kept_with_the_time_of_their_first_look() -> None:
    """A lag that grows is one finding; a warning that becomes a failure is another."""
    early = with_new({}, ["warn kafka: lag: 5 s", "fail flink: checkpoints: 9 s ago"], 8)
    late = with_new(early, ["warn kafka: lag: 40 s", "fail kafka: lag: 50 s"], 45)
    assert [*late.values()] == [
        "warn after 8 s: kafka: lag: 5 s",
        "fail after 8 s: flink: checkpoints: 9 s ago",
        "fail after 45 s: kafka: lag: 50 s",
    ]


def test_a_seed_gives_one_schedule_of_legal_faults() -> None:
    faults = schedule(7, 500)
    assert faults == schedule(7, 500) != schedule(8, 500)
    assert {fault.kind for fault in faults} == set(KINDS)
    for fault in faults:
        assert "kill" in fault.kind or fault.kind == "no memory" or SHORTEST_S <= fault.seconds <= LONGEST_S
        assert fault.victim in (*(FOLDERS if fault.kind in OF_DISKS else PROCESSES), ALL)
        assert fault.kind != "no memory" or fault.victim in ALLOCATE
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


@needs_disks
def test_the_doctor_names_a_process_whose_disk_stands_still(disk: disks.Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_STATE", str(disk.place))
    environment = os.environ | {SUPERVISED: str(disk.place), "SUPERVISOR_PROCESS_NAME": "kafka"}
    writes = "import os, sys, time\nwhile not time.sleep(0.01): os.unlink(open(sys.argv[1], 'w').name)"
    with subprocess.Popen([sys.executable, "-c", writes, str(disk.place / "a")], env=environment) as process:
        try:
            with disk.still():
                until("it waits for the disk", lambda: disk_waits(addresses({}), 3.0).level == "warn")
                assert f"kafka ({process.pid})" in disk_waits(addresses({}), 3.0).text
            until("it goes on", lambda: disk_waits(addresses({}), 3.0).level == "ok")
        finally:
            process.kill()


@needs_disks
def test_a_write_to_a_slow_disk_takes_its_time_and_returns(disk: disks.Disk) -> None:
    def took_s() -> float:
        began = time.monotonic()
        (disk.place / "written").write_bytes(b"1")
        return time.monotonic() - began

    with disk.slow(still_s=0.5, moves_s=0.1):
        until("a write waits for the disk", lambda: took_s() > 0.2)


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


@needs_cuts
@pytest.mark.long
def test_only_the_process_that_is_reset_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, asking() as one, asking() as other:
        port = server.getsockname()[1]
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        assert [ask(one, port), ask(one, "again")] == ["hello", "x"]
        with reset(one.pid, port):
            assert ask(other, port) == "hello"
            assert ask(one, "again") == "ConnectionResetError"
            assert ask(one, port) == "ConnectionRefusedError"
        assert ask(one, port) == "hello"


@needs_cuts
@pytest.mark.long
def test_a_process_is_refused_by_two_servers_at_once() -> None:
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
    with servers[0], servers[1], asking() as one:
        with reset(one.pid, ports[0]), reset(one.pid, ports[1]):
            assert [ask(one, port) for port in ports] == ["ConnectionRefusedError"] * 2
        assert [ask(one, port) for port in ports] == ["hello"] * 2


@needs_cuts
@pytest.mark.long
def test_a_slow_way_takes_longer_in_both_directions() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, asking() as one:
        port = server.getsockname()[1]
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        assert ask(one, port) == "hello"
        with slow(one.pid, port, 0.2):
            assert ask(one, "again") == "ConnectionResetError"
            began = time.monotonic()
            assert ask(one, port) == "hello"
            assert time.monotonic() - began >= 0.2
            assert ask(one, "again") == "x"
            assert time.monotonic() - began >= 0.6
        assert ask(one, port) == "hello"


@pytest.mark.skipif(not clock.possible(), reason="needs root and x86-64")
@pytest.mark.parametrize("step_s", [3600, -3600, 2, -2])
def test_the_clock_of_one_process_is_stepped_and_intervals_go_on(step_s: int) -> None:
    program = "import sys, time\nfor _ in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:

        def ahead() -> tuple[float, float]:
            wall, monotonic = map(float, ask(one, "now").split())
            return wall - time.time(), monotonic - time.monotonic()

        assert max(map(abs, ahead())) < 1
        with clock.stepped([one.pid], step_s):
            wall_s, monotonic_s = ahead()
            assert (round(wall_s), round(monotonic_s)) == (step_s, 0)
            assert abs(time.time() - time.clock_gettime(time.CLOCK_REALTIME)) < 1
        assert max(map(abs, ahead())) < 1


@pytest.mark.skipif(not memory.possible(), reason="needs root and control groups of memory")
def test_a_process_without_memory_is_killed_and_no_other() -> None:
    grows = "kept = []\nwhile True: kept.append(bytes(1 << 16))"
    with asking() as other, subprocess.Popen([sys.executable, "-c", "import time\ntime.sleep(1)\n" + grows]) as one:
        assert memory.killed_for_memory(one.pid)
        assert one.wait(60) == -9
        assert ask(other, "1") == "ConnectionRefusedError"


@pytest.mark.skipif(not memory.possible(), reason="needs root and control groups of memory")
def test_a_process_that_asks_for_no_memory_goes_on() -> None:
    program = "print('idle', flush=True); input(); bytearray(1 << 26)"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"idle\n"
        assert not memory.killed_for_memory(one.pid, patience_s=0.5)
        one.communicate(b"\n")
        assert one.returncode == 0


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
