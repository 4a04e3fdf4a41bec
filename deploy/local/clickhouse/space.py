"""Ends the engine before its disk is full, and starts it only where there is room.

The engine of the library (26.7.2.1) takes a write(2) that answered ENOSPC for done: the part gets its name with files
that are empty, and the rows of an acknowledged insert, or of all parts that it merged, are gone. An engine that was
killed has lost nothing that it acknowledged. By its source, ClickHouse's own server throws there, and needs none of
this.
"""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

MIB = 1 << 20
#: Below it the engine ends. config.xml has it refuse inserts at 64 MiB, so that only others' files come so far.
LEAST_BYTES = 16 * MIB
START_BYTES = 32 * MIB
LEAST_INODES = 1_000
#: An insert syncs some ten files, which takes longer; statvfs(2) takes some 2 us.
LOOK_S = 0.01


def lacking(folder: Path, least_bytes: int) -> str:
    """What a folder's disk lacks, as "9 MiB free, needs 16"; empty if it has enough."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if free < least_bytes:
        return f"{free // MIB} MiB free, needs {least_bytes // MIB}"
    if disk.f_files > 0 and disk.f_favail < LEAST_INODES:  # some file systems have no number of inodes
        return f"{disk.f_favail} inodes free, needs {LEAST_INODES}"
    return ""


def wait_for_room(folder: Path) -> None:
    """Returns once the disk has room, and says meanwhile that it has none."""
    reported = ""
    while lack := lacking(folder, START_BYTES):
        if lack != reported:
            _complain(f"{folder}: {lack}: waits for room before it starts")
            reported = lack
        time.sleep(1.0)


def end_when_full(folder: Path) -> None:
    """Kills this process, from a thread of its own, when the disk is nearly full."""
    threading.Thread(target=_watch, args=(folder,), name="space", daemon=True).start()


def _watch(folder: Path) -> None:
    while not (lack := lacking(folder, LEAST_BYTES)):
        time.sleep(LOOK_S)
    _complain(f"{folder}: {lack}: ends, since it would lose what it writes; it starts again once there is room")
    os.kill(os.getpid(), signal.SIGKILL)


def _complain(line: str) -> None:
    with suppress(OSError):  # the disk of the logs may be the same
        os.write(2, f"ClickHouse: {line}\n".encode())
