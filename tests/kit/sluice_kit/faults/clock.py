"""Steps the clock of a process: what clock_gettime(2), gettimeofday(2) and time(2) answer it, and nobody else.

The kernel maps these functions into each process (vdso(7)); a step writes over their first bytes, in that process alone
and the children that it forks. By the machine's clock go on: waits until a time of day (FUTEX_CLOCK_REALTIME), times of
files, and what reads the time without these functions. Intervals (CLOCK_MONOTONIC) do too, as after a real step.
x86-64 alone, and root.
"""

import ctypes
import os
import platform
import signal
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

ENTRIES = ("clock_gettime", "gettimeofday", "time")
PATIENCE_S = 10.0


def _code(step_s: int) -> dict[str, bytes]:
    """Machine code: the system call, and `step_s` added to the seconds of its answer. Of clock_gettime, for
    CLOCK_REALTIME (0) and CLOCK_REALTIME_COARSE (5)."""
    step = struct.pack("<q", step_s)
    load = b"\x48\xb9" + step  # mov rcx, step
    return {
        # mov eax, 228; syscall; test eax, eax; jnz end; test edi, edi; jz add; cmp edi, 5; jne end; add: [rsi] += rcx
        "clock_gettime": b"\xb8\xe4\0\0\0\x0f\x05\x85\xc0\x75\x16\x85\xff\x74\x05\x83\xff\x05\x75\x0d"
        + load
        + b"\x48\x01\x0e\xc3",
        # mov eax, 96; syscall; test rdi, rdi; jz end; [rdi] += rcx
        "gettimeofday": b"\xb8\x60\0\0\0\x0f\x05\x48\x85\xff\x74\x0d" + load + b"\x48\x01\x0f\xc3",
        # mov eax, 201; syscall; rax += rcx; test rdi, rdi; jz end; [rdi] = rax
        "time": b"\xb8\xc9\0\0\0\x0f\x05" + load + b"\x48\x01\xc8\x48\x85\xff\x74\x03\x48\x89\x07\xc3",
    }


def possible() -> bool:
    return os.geteuid() == 0 and platform.machine() == "x86_64"


@contextmanager
def stepped(pids: Iterable[int], step_s: int) -> Iterator[None]:
    """The clocks of these processes and of their children are `step_s` ahead (of a negative step: behind) within."""
    code, whole = _code(step_s), [pid for one in pids for pid in (one, *_children(one))]
    before = {pid: _replaced(pid, code) for pid in whole}
    try:
        yield
    finally:
        for pid, old in before.items():
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended: another has its place, with a right clock
                _replaced(pid, old)


def _replaced(pid: int, code: dict[str, bytes]) -> dict[str, bytes]:
    """Writes the code of each entry; returns what was there. The process stands still meanwhile."""
    begin, end = _mapped(pid)
    _stop_outside(pid, begin, end)
    try:
        old = {}
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
            for name, new in code.items():
                memory.seek(begin + _offsets()[name])
                old[name] = memory.read(len(new))
                memory.seek(begin + _offsets()[name])
                memory.write(new)
        return old
    finally:
        os.kill(pid, signal.SIGCONT)


def _stop_outside(pid: int, begin: int, end: int) -> None:
    """Stops the process where none of its threads is between these addresses."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        os.kill(pid, signal.SIGSTOP)
        while set(_states(pid)) - set("TtZX") and time.monotonic() < deadline:
            time.sleep(0.001)
        if not any(begin <= address < end for address in _addresses(pid)):
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)
    raise TimeoutError(f"step the clock of {pid}: its threads do not leave the functions of the clock")


def _states(pid: int) -> str:
    """A letter for each thread (proc_pid_stat(5)): T or t where it is stopped, Z or X where it ended."""
    stats = (task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/stat"))
    return "".join(stat.rpartition(")")[2].split()[0] for stat in stats)


def _addresses(pid: int) -> list[int]:
    """Where the stopped threads of a process go on."""
    calls = (task.read_text().split() for task in Path(f"/proc/{pid}/task").glob("*/syscall"))
    return [int(call[-1], 16) for call in calls if len(call) > 1]


def _mapped(pid: int | str) -> tuple[int, int]:
    """Where the kernel's functions are in a process: first address, and the one behind them."""
    line = next(line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith("[vdso]"))
    begin, end = line.split()[0].split("-")
    return int(begin, 16), int(end, 16)


@cache
def _offsets() -> dict[str, int]:
    """Of ENTRIES within the mapping: the same in all processes of a kernel."""
    functions = ctypes.CDLL("linux-vdso.so.1")
    begin, _ = _mapped("self")
    return {name: (ctypes.cast(functions[f"__vdso_{name}"], ctypes.c_void_p).value or 0) - begin for name in ENTRIES}


def _children(pid: int) -> list[int]:
    """Of a process, and theirs."""
    found = [int(word) for task in Path(f"/proc/{pid}/task").glob("*/children") for word in task.read_text().split()]
    return [*found, *(grandchild for child in found for grandchild in _children(child))]
