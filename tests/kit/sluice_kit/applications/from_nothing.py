"""Services that nobody told Sluice about, under load on one core, and a recommender with an empty configuration."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import Side
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.applications.instrumented import go_service, hot_rows, python_service
from sluice_kit.applications.real_load import LoadResult, bursty, steady
from sluice_kit.applications.real_scene import recommender
from sluice_kit.applications.spring_boot import spring_boot
from sluice_kit.applications.tomcat import application
from sluice_kit.local_stack.driver import Stack
from sluice_kit.machine.cores import confined, split
from sluice_kit.servers.postgres import postgres
from stack import processes

MOST_USERS, STEADY_USERS = 110, 80
At = Callable[[int], AbstractContextManager[str]]
"""Runs a service with its pool at a size; gives the URL of its work."""


@dataclass(frozen=True)
class Unknown:
    """A service, and the side of the pool that limits it. first: its size, which bursts of MOST_USERS clearly exceed.
    65 to 77 calls at 64 threads, on a machine with nothing else to do, are no bound that spans show."""

    name: str
    side: Side.ValueType
    first: int
    at: At


@dataclass(frozen=True)
class Found:
    """The answer for a pool. after_s: since the load began."""

    size: PoolSize
    after_s: float


class Scene:
    def __init__(self, stack: Stack, address: str, database: str, core: int, others: set[int], folder: Path) -> None:
        """core: of the services. others: of everything else."""
        self._others = others
        self._otlp, self._address, self._folder = stack.address["SLUICE_OTLP_GRPC"], address, folder
        port = hot_rows(database)

        @contextmanager
        def spring(connections: int) -> Iterator[str]:
            with spring_boot(database, folder / "spring.log", False, [core], connections, self._otlp) as up:
                yield f"{up.url}/update"

        @contextmanager
        def tomcat(threads: int) -> Iterator[str]:
            log = folder / "tomcat.log"
            with application("tomcat", threads, database, [core], log, self._otlp, defaults=True) as up:
                yield f"{up.url}/update"

        def instrumented(name: str, service: Callable[..., AbstractContextManager[str]], interval_s: float) -> At:
            log = folder / f"{name}.log"
            return partial(service, name, port, cores=[core], log=log, otlp=self._otlp, interval_s=interval_s)

        client, server = Side.SIDE_CLIENT, Side.SIDE_SERVER
        self.services = {
            service.name: service
            for service in (
                Unknown("quick", client, 64, instrumented("quick", go_service, 5)),
                Unknown("go", client, 64, instrumented("go", go_service, 60)),
                Unknown("python", client, 12, instrumented("python", python_service, 60)),
                Unknown("spring", client, 24, spring),
                Unknown("tomcat", server, 40, tomcat),
            )
        }

    def found(self, service: Unknown, within_s: float, is_enough: Callable[[PoolSize], bool]) -> Found:
        """The first answer that is enough, while the service and its bursts of users are up; at the end of the time the
        newest answer, whatever it is. AssertionError where the pool was not found."""
        with service.at(service.first) as url, self._bursts(service, url):
            start, size = time.monotonic(), None
            while time.monotonic() < start + within_s and not (size is not None and is_enough(size)):
                time.sleep(2)
                size = self._answer(service) or size
            assert size is not None, f"no pool of {service.name} within {within_s:g} s"
            return Found(size, time.monotonic() - start)

    def users(self, service: Unknown, size: int, seconds: float) -> LoadResult:
        """What a steady number of users sees at a size."""
        with service.at(size) as url:
            result = steady(self._others, url, service.name, STEADY_USERS, seconds)
        print(f"{service.name} at {size}: {result}", flush=True)
        return result

    def pools(self) -> list[PoolSize]:
        with grpc.insecure_channel(self._address) as channel:
            return list(PoolSizeServiceStub(channel).ListPoolSizes(api.ListPoolSizesRequest(), timeout=20).pool_sizes)

    def _answer(self, service: Unknown) -> PoolSize | None:
        own = [size for size in self.pools() if size.pool.service == service.name and size.pool.side == service.side]
        # Of one pool under two names, before traces named its peer, the one that has a size.
        return max(own, key=lambda size: size.HasField("current"), default=None)

    def _bursts(self, service: Unknown, url: str) -> AbstractContextManager[Path]:
        """Its users are a service with spans of their own, as a gateway is."""
        log = self._folder / f"{service.name}.jsonl"
        return bursty(self._others, url, service.name, MOST_USERS, self._otlp, log)


@contextmanager
def from_nothing(stack: Stack, folder: Path) -> Iterator[Scene]:
    """ValueError: there is only one core."""
    core, others = split()
    empty = folder / "empty.yaml"
    empty.touch()
    with ExitStack() as up:
        pids = [os.getpid(), *processes.of_stack(Path(stack.address["SLUICE_STATE"]))]
        up.enter_context(confined(pids, others))
        database = up.enter_context(postgres([core], folder / "postgres.log"))
        address = up.enter_context(recommender(stack, others, folder, empty))
        yield Scene(stack, address, database, core, others, folder)
