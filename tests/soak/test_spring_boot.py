"""The shipped actuator beside a Spring Boot application under load: its pools by the names that Spring Boot gives their
beans, over /actuator/jolokia. What is set is what the application has, by its own count."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from string import Template
from threading import Thread
from typing import Any

import pytest
import requests

from sluice.pools.v1.actuation_pb2 import Actuation, ActuationOutcome
from sluice.pools.v1.pool_pb2 import Pool, Side
from sluice_kit.applications.spring_boot import SpringBoot, spring_boot
from sluice_kit.fakes.pool_sizes_server import PoolSizesServer
from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.postgres import postgres
from sluice_kit.waiting import until

THREADS = Pool(service="shop", side=Side.SIDE_SERVER)
CONNECTIONS = Pool(service="shop", side=Side.SIDE_CLIENT, peer="postgres")
APPLIED = ActuationOutcome.ACTUATION_OUTCOME_APPLIED
USERS, SECONDS = 24, 2.0
OWN = "own port of /actuator"


class Scene:
    def __init__(self, application: SpringBoot, server: PoolSizesServer, status: str, own_port: bool) -> None:
        self.application, self.server, self.status, self.own_port = application, server, status, own_port

    def report(self, pool: Pool, size: int) -> Actuation:
        """What the actuator did about a size that is said now."""
        revision = self.server.publish(pool, size)

        def mine() -> list[Actuation]:
            return [
                one for one in self.server.reports if one.pool == pool and one.revision == revision and one.requested
            ]

        until(f"the actuator's report about {size}", lambda: bool(mine()))
        return mine()[0]


@pytest.fixture(scope="module", params=[True, False], ids=[OWN, "one port"])
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    own_port: bool = request.param
    folder = tmp_path_factory.mktemp("spring-boot")
    (status,) = free_ports(1)
    with ExitStack() as up:
        server = up.enter_context(PoolSizesServer())
        database = up.enter_context(postgres(os.sched_getaffinity(0), folder / "postgres.log"))
        application = up.enter_context(spring_boot(database, folder / "application.log", own_port))
        config, page = folder / "actuator.yaml", f"http://127.0.0.1:{status}"
        names = {
            "status": f"127.0.0.1:{status}",
            "recommender": server.address,
            "jolokia": application.jolokia,
            # A second connector, of /actuator, is in a domain of its own, Tomcat-1.
            "threads": """, mbean: 'Tomcat:type=ThreadPool,name="http*"'""" if own_port else "",
        }
        config.write_text(Template(Path(__file__).with_name("spring_boot.yaml").read_text()).substitute(names))

        command: list[str | Path] = [REPOSITORY / ".cache/bin/sluice-actuator", "--config", config]
        up.enter_context(running("actuator", command, answers(f"{page}/readyz"), folder / "actuator.log", 120))
        yield Scene(application, server, page, own_port)


def test_the_beans_are_spring_boots(scene: Scene) -> None:
    threads = scene.application.ask("search", "*:type=ThreadPool,*")
    pools = sorted(scene.application.ask("search", "com.zaxxer.hikari:*"))
    domains = sorted(name.partition(":")[0] for name in threads)
    assert domains == (["Tomcat", "Tomcat-1"] if scene.own_port else ["Tomcat"]), threads
    assert all('name="http-nio-127.0.0.1-' in name for name in threads), threads
    assert pools == ["com.zaxxer.hikari:type=Pool (HikariPool-1)", "com.zaxxer.hikari:type=PoolConfig (HikariPool-1)"]


def test_what_is_read_is_spring_boots_default(scene: Scene) -> None:
    """200 threads and 10 connections; of two connectors without a name nothing is read, and it is said why."""

    def targets() -> dict[str, dict[str, Any]]:
        page = requests.get(f"{scene.status}/status", timeout=10).json()
        return {one["name"]: one for one in page["targets"]}

    until("all were looked at", lambda: all("size" in one or "read_error" in one for one in targets().values()))
    shown = targets()
    assert (shown["threads"]["size"], shown["connections"]["size"]) == (200, 10), shown
    if scene.own_port:
        why = shown["any-connector"]["read_error"]
        assert "2 beans" in why, why
        assert "Tomcat-1:" in why, why
    else:
        assert shown["any-connector"]["size"] == 200


@pytest.mark.parametrize("size", [4, 16])
def test_threads_under_load(scene: Scene, size: int) -> None:
    done = scene.report(THREADS, size)
    assert (done.outcome, done.requested, done.read_back) == (APPLIED, size, size), done
    assert scene.application.most(USERS, SECONDS)["requests"] == size


@pytest.mark.parametrize(("size", "threads"), [(3, 18), (12, 20)])
def test_connections_under_load(scene: Scene, size: int, threads: int) -> None:
    """With more threads than connections: these are what bounds the work."""
    assert scene.report(THREADS, threads).outcome == APPLIED
    done = scene.report(CONNECTIONS, size)
    assert (done.outcome, done.requested, done.read_back) == (APPLIED, size, size), done
    assert scene.application.most(USERS, SECONDS)["connections"] == size


def test_sizes_change_while_requests_are_under_way(scene: Scene) -> None:
    """Nobody's request fails, whether pools shrink or grow."""
    failed: list[Exception] = []

    def load() -> None:
        try:
            scene.application.most(USERS, 8 * SECONDS)
        except (AssertionError, requests.RequestException) as error:
            failed.append(error)

    users = Thread(target=load)
    users.start()
    for threads, connections in ((5, 4), (20, 8), (8, 2)):
        for pool, size in ((THREADS, threads), (CONNECTIONS, connections)):
            done = scene.report(pool, size)
            assert (done.outcome, done.requested, done.read_back) == (APPLIED, size, size), done
    users.join()
    assert not failed, failed
