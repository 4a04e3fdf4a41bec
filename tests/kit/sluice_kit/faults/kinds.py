"""What may befall the processes of a stack, and for how long."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice_kit.faults.disks import Disk
from sluice_kit.faults.network import Cut, cut
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.victims import Victims
from stack.settings import load

#: The folders of a stack's state that have a disk of their own, by the process that needs them.
FOLDERS = {
    "kafka": "data/kafka", "clickhouse": "data/clickhouse", "neo4j": "data/neo4j", "collector": "data/collector",
    "flink": "flink", "logs": "logs",
}  # fmt: skip
#: Who asks whom: a process, and a key of [ports] in stack.toml.
ASKS = (
    ("collector", "kafka"), ("flink-taskmanager", "kafka"), ("flink-taskmanager", "clickhouse_http"),
    ("flink-taskmanager", "neo4j_bolt"), ("flink-taskmanager", "flink_rpc"), ("jobs", "flink_rest"),
    ("decider", "kafka"), ("decider", "clickhouse_http"), ("server", "kafka"), ("records", "kafka"),
    ("records", "clickhouse_http"), ("actuator", "recommender"),
)  # fmt: skip
PROCESSES = (
    "collector", "kafka", "flink-jobmanager", "flink-taskmanager", "clickhouse", "neo4j", "decider", "server",
    "records", "actuator", "jobs",
)  # fmt: skip
KINDS = ("kill", "stop", "full disk", "disk stands still", "cut", "requests lost", "answers lost")
_WAYS = {"cut": (Cut.REQUESTS, Cut.ANSWERS), "requests lost": (Cut.REQUESTS,), "answers lost": (Cut.ANSWERS,)}


@dataclass(frozen=True)
class Fault:
    """kind: of KINDS. victim: of PROCESSES; of a disk, of FOLDERS. peer: of a cut, a key of [ports]."""

    kind: str
    victim: str
    seconds: float = 0.0
    peer: str = ""

    def __str__(self) -> str:
        what = f"{self.kind}: {self.victim}" + (f" to {self.peer}" if self.peer else "")
        return what + (f", {self.seconds:g} s" if self.seconds else "")


class Machine:
    """Puts faults into a stack. disks: by the names of FOLDERS; {} where it has none of its own."""

    def __init__(self, stack: Stack, disks: dict[str, Disk]) -> None:
        self._victims, self._disks = Victims(stack), disks
        self._ports = load(stack.environment).ports

    @contextmanager
    def suffers(self, fault: Fault) -> Iterator[None]:
        """From the begin of the fault to its end. Of a kill, the end is when another process is ready."""
        if fault.kind == "kill":
            killed = self._victims.kill(fault.victim)
            yield
            self._victims.wait_back(fault.victim, killed)
        elif fault.kind == "stop":
            with self._victims.stuck(fault.victim):
                yield
        elif fault.kind == "full disk":
            with self._disks[fault.victim].full():
                yield
        elif fault.kind == "disk stands still":
            with self._disks[fault.victim].still():
                yield
        else:
            with cut(self._victims.pid(fault.victim), self._ports[fault.peer], *_WAYS[fault.kind]):
                yield


def places(state: Path) -> dict[str, Path]:
    """Where a stack's disks are mounted; the folders are made."""
    found = {name: state / folder for name, folder in FOLDERS.items()}
    for place in found.values():
        place.mkdir(parents=True, exist_ok=True)
    return found
