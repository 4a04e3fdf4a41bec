"""The application of tests/testbed/polyglot beside the stack: a recommender of its own, and the shipped actuator."""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import yaml

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.applications.polyglot import Polyglot, polyglot
from sluice_kit.applications.polyglot_pools import actuator_file
from sluice_kit.applications.real_scene import recommender
from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.cgroups import holding
from sluice_kit.machine.cores import confined, pinned, split
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from stack import processes
from stack.layout import BIN

ROOT = "gateway"
STACK_SHARES = 8
"""The stack is one session of a dozen programs. Its core is shared out among sessions: the load has another, and so has
whatever else the machine runs."""


@dataclass(frozen=True)
class Scene:
    """The application on one core, all else on `others`."""

    stack: Stack
    app: Polyglot
    recommender: str
    others: set[int]
    folder: Path

    def answers(self) -> list[PoolSize]:
        with grpc.insecure_channel(self.recommender) as channel:
            return list(PoolSizeServiceStub(channel).ListPoolSizes(api.ListPoolSizesRequest(), timeout=20).pool_sizes)

    def stack_seconds(self) -> float:
        """CPU time of the stack's processes so far, without those that ended."""
        return sum(_cpu_seconds(pid) for pid in processes.of_stack(Path(self.stack.address["SLUICE_STATE"])))

    def behind_s(self) -> float:
        """How old the newest window of the root is."""
        newest = f"SELECT toFloat64(now64(3)) - toFloat64(max(bucket)) AS age FROM windows WHERE service = '{ROOT}'"
        return float(self.stack.rows(newest)[0]["age"])

    @contextmanager
    def actuator(self, apply: bool) -> Iterator[None]:
        """Without `apply` it reads and reports: the decider must know the sizes."""
        (status,) = free_ports(1)
        name = f"actuator-{time.time_ns()}"
        (config := self.folder / f"{name}.yaml").write_text(
            yaml.safe_dump(
                actuator_file(self.app, self.recommender, f"127.0.0.1:{status}", apply, self.folder / name),
                sort_keys=False,
            )
        )
        command = pinned(self.others, [BIN / "sluice-actuator", "--config", config])
        ready = answers(f"http://127.0.0.1:{status}/readyz")
        with running("actuator", command, ready, self.folder / f"{name}.log", 60, poll_s=0.5):
            yield


@contextmanager
def scene(stack: Stack, folder: Path, config: Callable[[Polyglot], dict[str, Any]]) -> Iterator[Scene]:
    """All of it, up. config: the decider's, of the application that is up. ValueError: there is only one core."""
    core, others = split()
    with ExitStack() as up:
        pids = [*processes.of_stack(Path(stack.address["SLUICE_STATE"]))]
        up.enter_context(confined([os.getpid(), *pids], others))
        up.enter_context(holding(pids, STACK_SHARES))
        otlp = stack.address["SLUICE_OTLP_GRPC"], stack.address["SLUICE_OTLP_HTTP"]
        topic = f"checkouts-{uuid.uuid4().hex[:8]}"
        app = up.enter_context(polyglot({core}, others, otlp, stack.address["SLUICE_KAFKA"], topic, folder))
        (document := folder / "sluice.yaml").write_text(yaml.safe_dump(config(app), sort_keys=False))
        address = up.enter_context(recommender(stack, others, folder, document))
        yield Scene(stack, app, address, others, folder)


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
