"""A machine on which a stack runs, and suffers faults."""

import os
import resource
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sluice_kit.faults.clock import stepped
from sluice_kit.faults.disks import Disk, disks
from sluice_kit.faults.kinds import ALL, ASKS, CLOCKS, EVERY, FOLDERS, PROCESSES, SLOW_DISK, Fault
from sluice_kit.faults.memory import killed_for_memory
from sluice_kit.faults.network import Cut, cut, reset, slow
from sluice_kit.local_stack.driver import STATE, Stack, drive
from sluice_kit.local_stack.victims import Victims
from stack import processes
from stack.settings import load

DISK_BYTES = 3 << 30
SLOW_S = 0.2
#: Of the last machine that suffered what it should not.
LOGS = STATE.with_name(f"{STATE.name}-logs")
SPARED = "spared: it asked for no memory"
_WAYS = {"cut": (Cut.REQUESTS, Cut.ANSWERS), "requests lost": (Cut.REQUESTS,), "answers lost": (Cut.ANSWERS,)}


class Machine:
    """Puts faults into a stack. disks: by the names of FOLDERS; {} where it has none of its own."""

    def __init__(self, stack: Stack, disks: dict[str, Disk]) -> None:
        self._victims, self._disks = Victims(stack), disks
        self._ports = load(stack.environment).ports

    def lose_unsynced(self) -> None:
        """Once nothing runs: each disk as a power cut leaves it."""
        for disk in self._disks.values():
            disk.lose_unsynced()

    @contextmanager
    def suffers(self, fault: Fault) -> Iterator[str]:
        """From the begin of the fault to its end. Of a kill, the end is when another process is ready. Gives SPARED
        where it befalls nobody, else an empty text."""
        if fault.kind == "kill":
            killed = self._victims.kill(fault.victim)
            yield ""
            self._victims.wait_back(fault.victim, killed)
        elif fault.kind == "no memory":
            if killed_for_memory(killed := self._victims.pid(fault.victim)):
                yield ""
                self._victims.wait_back(fault.victim, killed)
            else:
                yield SPARED
        elif fault.kind == "all killed":
            kill_all()
            yield ""
            drive("up", "--no-demo")
        elif fault.kind == "stop":
            with ExitStack() as stopped:
                for name in _named(fault.victim):
                    stopped.enter_context(self._victims.stuck(name))
                yield ""
        elif fault.kind == "no descriptors":
            with _no_descriptors(self._victims.pid(fault.victim)):
                yield ""
        elif fault.kind == "full disk":
            with self._disks[fault.victim].full(), self._victims.stuck(fault.peer) if fault.peer else nullcontext():
                yield ""
        elif fault.kind == "disk stands still":
            with self._disks[fault.victim].still():
                yield ""
        elif fault.kind == SLOW_DISK:
            with self._disks[fault.victim].slow():
                yield ""
        elif fault.kind in CLOCKS:
            with stepped(map(self._victims.pid, _named(fault.victim)), CLOCKS[fault.kind]):
                yield ""
        else:
            pairs = ASKS if fault.victim == EVERY else ((fault.victim, fault.peer),)
            with ExitStack() as connections:
                for client, port in pairs:
                    connections.enter_context(_hit(fault.kind, self._victims.pid(client), self._ports[port]))
                yield ""


def _named(victim: str) -> Sequence[str]:
    return PROCESSES if victim == ALL else (victim,)


def _hit(kind: str, pid: int, port: int) -> AbstractContextManager[None]:
    if kind == "reset":
        return reset(pid, port)
    return slow(pid, port, SLOW_S) if kind == "slow" else cut(pid, port, *_WAYS[kind])


@contextmanager
def _no_descriptors(pid: int) -> Iterator[None]:
    """It keeps the files and connections that it has, and gets no other: EMFILE."""
    has = len(os.listdir(f"/proc/{pid}/fd"))
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(has, before[1]), before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it ended, and another has its place
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def kill_all() -> None:
    """SIGKILL to every process of the stack at once, as a power cut; what was written stays."""
    state = STATE.resolve()
    processes.signal_all(processes.of_stack(state), signal.SIGKILL)
    assert processes.wait_gone(lambda: processes.of_stack(state), 60), "killed processes stay"


@contextmanager
def on_disks(stack: Stack) -> Iterator[Machine]:
    """The stack that is up goes on with a disk for each of FOLDERS. At the end it is up again with what it had before.

    Images are sparse: they take what is written.
    """
    drive("down")
    places = {name: STATE / folder for name, folder in FOLDERS.items()}
    try:
        with TemporaryDirectory(dir=STATE.parent) as folder:
            images, kept = Path(folder), Path(folder) / "kept"
            for name, place in places.items():
                place.mkdir(parents=True, exist_ok=True)
                shutil.copytree(place, kept / name, symlinks=True)
            with disks(places, images, DISK_BYTES) as made:
                for name, place in places.items():
                    shutil.copytree(kept / name, place, symlinks=True, dirs_exist_ok=True)
                try:
                    drive("up", "--no-demo")
                    yield Machine(stack, made)
                except BaseException as error:
                    shutil.rmtree(LOGS, ignore_errors=True)
                    shutil.copytree(places["logs"], LOGS)  # their disk goes with the machine
                    error.add_note(f"the logs of the stack are in {LOGS}")
                    raise
                finally:
                    drive("down")
    finally:
        drive("up", "--no-demo")
