"""A TaskManager that is killed, and back at its address at once, registers, however the connections cross."""

from contextlib import ExitStack
from pathlib import Path

import requests

from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.flink_process import answers, configuration, flink_process, is_open
from sluice_kit.servers.proxy import proxy
from sluice_kit.waiting import until

#: As Flink comes, 5 of 16 never registered here: that ten of ten do happens once in forty times, (11/16)^10.
TIMES = 10
#: Of a connection and of what it carries: two that begin at once cross.
DELAY_S = 0.15


def test_a_killed_worker_that_is_back_at_its_address_registers(stack: Stack, tmp_path: Path) -> None:
    rest, rpc, rpc_bind, worker, worker_bind, data = free_ports(6)
    (tmp_path / "tmp").mkdir()
    changed = {
        "rest.port": rest,
        "rest.bind-port": rest,
        "jobmanager.rpc.port": rpc,
        "jobmanager.rpc.bind-port": rpc_bind,
        "blob.server.port": 0,
        "taskmanager.rpc.port": worker,
        "taskmanager.rpc.bind-port": worker_bind,
        "taskmanager.data.port": data,
        "io.tmp.dirs": tmp_path / "tmp",
        # The one that is back comes before anybody knows that the one before is dead.
        "heartbeat.interval": 1000,
        "heartbeat.rpc-failure-threshold": -1,
    }
    leader = configuration(stack, tmp_path / "leader", changed)
    follower = configuration(stack, tmp_path / "worker", changed)

    registered: set[str] = set()

    def another_registers() -> bool:
        known = requests.get(f"http://127.0.0.1:{rest}/taskmanagers", timeout=10).json()["taskmanagers"]
        new = {one["id"] for one in known} - registered
        registered.update(new)
        return bool(new)

    with ExitStack() as up:
        up.enter_context(proxy(rpc_bind, at=rpc, delay_s=DELAY_S))
        up.enter_context(proxy(worker_bind, at=worker, delay_s=DELAY_S))
        up.enter_context(flink_process(stack, "jobmanager", leader, lambda: answers(f"127.0.0.1:{rest}")))
        for time in range(1 + TIMES):
            with flink_process(stack, "taskmanager", follower, lambda: is_open(data)) as process:
                until(f"TaskManager {time} registers", another_registers)
                process.kill()
