"""The disk that ClickHouse's library needs: what it lacks, and that the process ends and waits by that."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clickhouse import space

MIB = 1 << 20


def disk(monkeypatch: pytest.MonkeyPatch, free_bytes: int, files: int = 0, free_files: int = 0) -> None:
    """statvfs answers so. Blocks of 4 KiB."""
    answer = os.statvfs_result((4096, 4096, 1 << 20, 0, free_bytes // 4096, files, 0, free_files, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: answer)


@pytest.mark.parametrize(
    ("free_bytes", "files", "free_files", "lack"),
    [
        (16 * MIB, 0, 0, ""),  # a file system without a number of inodes
        (16 * MIB - 4096, 0, 0, "15 MiB free, needs 16"),
        (0, 0, 0, "0 MiB free, needs 16"),
        (16 * MIB, 5_000, 1_000, ""),
        (16 * MIB, 5_000, 999, "999 inodes free, needs 1000"),
    ],
)
def test_what_a_disk_lacks(
    monkeypatch: pytest.MonkeyPatch, free_bytes: int, files: int, free_files: int, lack: str
) -> None:
    disk(monkeypatch, free_bytes, files, free_files)
    assert space.lacking(Path("/"), space.LEAST_BYTES) == lack


def test_it_waits_for_room_and_says_so_once_an_amount(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    free = iter([2 * MIB, 2 * MIB, 31 * MIB, 32 * MIB])

    def sleep(seconds: float) -> None:
        disk(monkeypatch, next(free))

    sleep(0)
    monkeypatch.setattr(time, "sleep", sleep)
    space.wait_for_room(Path("/data"))
    assert capfd.readouterr().err.splitlines() == [
        "ClickHouse: /data: 2 MiB free, needs 32: waits for room before it starts",
        "ClickHouse: /data: 31 MiB free, needs 32: waits for room before it starts",
    ]


def test_the_process_ends_when_its_disk_is_full() -> None:
    script = (
        "import time; from pathlib import Path; from clickhouse import space; space.LEAST_BYTES = 1 << 62;"
        "space.end_when_full(Path('/')); time.sleep(60)"
    )
    local = Path(__file__).resolve().parents[1]
    ended = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": str(local)}, capture_output=True, text=True, timeout=50
    )
    assert ended.returncode == -signal.SIGKILL
    assert "ends, since it would lose what it writes" in ended.stderr
