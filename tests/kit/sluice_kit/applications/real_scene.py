"""A real application beside the stack: its database, a recommender of its own, and the actuator, each on its core."""

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import grpc
import requests

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import Pool, Side
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.applications.real_load import LoadResult, bursty, steady
from sluice_kit.applications.tomcat import Application, application
from sluice_kit.local_stack.driver import REPOSITORY, Stack
from sluice_kit.machine.cores import confined, pinned, split
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.kafka import create_log
from sluice_kit.servers.postgres import postgres
from stack import processes

T = TypeVar("T")

LONG = REPOSITORY / "tests/soak"
THREADS = 128
"""Far too many, as is usual: Tomcat's own default is 200."""
MOST_USERS = 110


@dataclass
class Scene:
    """The application `service` on one core, all else on the others; its users ask for /`handler`. Sizes are in
    threads."""

    stack: Stack
    service: str
    handler: str
    application: Application
    others: set[int]
    recommender: str
    folder: Path

    @property
    def _url(self) -> str:
        return f"{self.application.url}/{self.handler}"

    def users(self, size: int, users: int, seconds: float) -> LoadResult:
        """What a steady number of users sees at a size."""
        self.application.resize(size)
        result = steady(self.others, self._url, self.service, users, seconds, self.stack.address["SLUICE_OTLP_GRPC"])
        print(f"{self.service}: {size:3} threads, {users} users: {result}", flush=True)
        return result

    @contextmanager
    def bursts(self) -> Iterator[None]:
        otlp = self.stack.address["SLUICE_OTLP_GRPC"]
        with bursty(self.others, self._url, self.service, MOST_USERS, otlp, self.folder / "bursts.jsonl"):
            yield

    def answer(self) -> PoolSize:
        """Sluice's, by a call from here: the CLI's start would take seconds of the cores that are measured."""
        with grpc.insecure_channel(self.recommender) as channel:
            request = api.GetPoolSizeRequest(pool=Pool(service=self.service, side=Side.SIDE_SERVER))
            answer: api.GetPoolSizeResponse = PoolSizeServiceStub(channel).GetPoolSize(request, timeout=20)
            return answer.pool_size

    def explanation(self) -> str:
        """The same with its grounds, for people to read."""
        words = [str(REPOSITORY / "sluice"), "pools", "explain", self.service]
        environment = self.stack.environment | {"SLUICE_RECOMMENDER": self.recommender}
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120).stdout

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Of a query, by a call from here too."""
        parameters = {"database": "sluice", "user": "sluice_reader", "default_format": "JSON"}
        answer = requests.post(self.stack.address["SLUICE_CLICKHOUSE"], query, params=parameters, timeout=60)
        assert answer.ok, answer.text
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows

    def behind_s(self) -> float:
        """How old the newest window of the service is."""
        newest = "SELECT toFloat64(now64(3)) - toFloat64(max(bucket)) AS age FROM windows WHERE service = '{}'"
        return float(self.rows(newest.format(self.service))[0]["age"])

    @contextmanager
    def actuator(self, *flags: str) -> Iterator[None]:
        """The real one, over Jolokia. Without flags it reads and reports, as the recommender must know the size."""
        (status,) = free_ports(1)
        config = self.folder / "actuator.yaml"
        names = {
            "service": self.service,
            "status": f"127.0.0.1:{status}",
            "recommender": self.recommender,
            "jolokia": self.application.jolokia,
            "port": self.application.url.rsplit(":", 1)[1],
        }
        config.write_text(Template(Path(__file__).with_name("tomcat_actuator.yaml").read_text()).substitute(names))
        binary = REPOSITORY / ".cache/bin/sluice-actuator"
        command = pinned(self.others, [binary, "--config", config, *flags])

        with running(
            "actuator",
            command,
            answers(f"http://127.0.0.1:{status}/readyz"),
            self.folder / "actuator.log",
            60,
            poll_s=0.5,
        ):
            yield


@contextmanager
def scene(
    stack: Stack,
    service: str,
    folder: Path,
    handler: str = "",
    threads: int = THREADS,
    config: Path = LONG / "real_application.yaml",
) -> Iterator[Scene]:
    """All of it, up; the handler is named as the service is where nothing is said. ValueError: there is only one core.

    config: the decider's.
    """
    core, others = split()
    with ExitStack() as up:
        pids = [os.getpid(), *processes.of_stack(Path(stack.address["SLUICE_STATE"]))]
        up.enter_context(confined(pids, others))
        database = up.enter_context(postgres([core], folder / "postgres.log"))
        otlp = stack.address["SLUICE_OTLP_GRPC"]
        tomcat = up.enter_context(application(service, threads, database, [core], folder / "tomcat.log", otlp))
        address = up.enter_context(recommender(stack, others, folder, config))
        yield Scene(stack, service, handler or service, tomcat, others, address, folder)


@contextmanager
def recommender(stack: Stack, cores: set[int], folder: Path, config: Path) -> Iterator[str]:
    """The stack's own watches the demo; this one watches the application, in the same database and a log of its own."""
    port, pages = free_ports(2)
    address, prefix = f"127.0.0.1:{port}", f"{uuid.uuid4().hex[:8]}_"
    create_log(stack.address["SLUICE_KAFKA"], folder, prefix, 1)
    environment = stack.programs | {
        "SLUICE_RECOMMENDER": address,
        "SLUICE_TOPIC_PREFIX": prefix,
        "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
    }
    health = {"SLUICE_HEALTH": f"127.0.0.1:{pages}"}
    python = REPOSITORY / ".cache/venvs/sluice/bin/python"
    decider = pinned(cores, [python, "-m", "sluice.decider", "--config", config])
    server = pinned(cores, [REPOSITORY / ".cache/bin/sluice-server"])
    records = [*server, "records"]

    def answered() -> bool:
        with grpc.insecure_channel(address) as channel:
            try:
                answer = PoolSizeServiceStub(channel).ListPoolSizes(api.ListPoolSizesRequest(), timeout=5)
                return bool(answer.pool_sizes) or not config.read_text()
            except grpc.RpcError:  # UNAVAILABLE until it has read the journal
                return False

    with (
        running("decider", decider, lambda: True, folder / "decider.log", 120, environment | health),
        running("recommender", server, answered, folder / "recommender.log", 120, environment, poll_s=0.5),
        running("records", records, lambda: True, folder / "records.log", 120, environment),
    ):
        yield address


def wait_for(what: str, probe: Callable[[], T | None], within_s: float) -> T:
    """The first value of `probe()` that is not None. AssertionError when it does not come."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if (value := probe()) is not None:
            return value
        time.sleep(2)
    raise AssertionError(f"no {what} within {within_s:g} s")
