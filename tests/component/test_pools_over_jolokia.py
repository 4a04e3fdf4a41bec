"""The shipped actuator on a real Tomcat's threads and HikariCP's connections, over Jolokia: what it sets is in force.

The load is in tests/soak/test_real_application.py; here hardly anybody asks the application for anything.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from string import Template
from threading import Event

import pytest
import requests

from sluice.pools.v1.actuation_pb2 import Actuation, ActuationOutcome
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice.pools.v1.pool_pb2 import Pool, Side
from sluice_kit.applications.tomcat import Application, application
from sluice_kit.fakes.pool_sizes_server import PoolSizesServer
from sluice_kit.fakes.span_sink import SpanSink
from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.postgres import postgres
from sluice_kit.waiting import until

THREADS = Pool(service="update", side=Side.SIDE_SERVER)
ATTRIBUTE = Pool(service="attribute", side=Side.SIDE_SERVER)
CONNECTIONS = Pool(service="update", side=Side.SIDE_CLIENT, peer="postgres")
SETTINGS = "com.zaxxer.hikari:type=PoolConfig (rows)"
HIKARI = "com.zaxxer.hikari:type=Pool (rows)"
FIRST, SPARE = 32, 10
APPLIED = ActuationOutcome.ACTUATION_OUTCOME_APPLIED
FAILED = ActuationOutcome.ACTUATION_OUTCOME_FAILED
CONFIGURATION = Path(__file__).with_name("pools_over_jolokia.yaml")


@pytest.fixture(scope="module")
def server() -> Iterator[PoolSizesServer]:
    with PoolSizesServer() as server:
        yield server


@pytest.fixture(scope="module")
def spans() -> Iterator[SpanSink]:
    with SpanSink() as sink:
        yield sink


@pytest.fixture(scope="module")
def tomcat(server: PoolSizesServer, spans: SpanSink, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """With as many spare threads as Tomcat has by default, and an actuator that applies what is said."""
    folder = tmp_path_factory.mktemp("tomcat")
    cores = os.sched_getaffinity(0)
    (status,) = free_ports(1)
    with ExitStack() as up:
        database = up.enter_context(postgres(cores, folder / "postgres.log"))
        tomcat = up.enter_context(
            application("update", FIRST, database, cores, folder / "tomcat.log", spans.address, spare_threads=None)
        )
        names = {
            "status": f"127.0.0.1:{status}",
            "recommender": server.address,
            "jolokia": tomcat.jolokia,
            "port": tomcat.url.rsplit(":", 1)[1],
        }
        config = folder / "actuator.yaml"
        config.write_text(Template(CONFIGURATION.read_text()).substitute(names))

        command = [REPOSITORY / ".cache/bin/sluice-actuator", "--config", config]
        up.enter_context(
            running("actuator", command, answers(f"http://127.0.0.1:{status}/readyz"), folder / "actuator.log", 120)
        )
        yield tomcat


def report(server: PoolSizesServer, pool: Pool, size: int) -> Actuation:
    """What the actuator did about a size that is said now."""
    revision = server.publish(pool, size)

    def mine() -> list[Actuation]:
        return [
            actuation
            for actuation in server.reports
            if actuation.pool == pool and actuation.revision == revision and actuation.requested
        ]

    until(f"the actuator's report about {size}", lambda: bool(mine()))
    return mine()[0]


@pytest.mark.parametrize("size", [SPARE + 6, SPARE, 64])
def test_threads_are_set_and_read_back(server: PoolSizesServer, tomcat: Application, size: int) -> None:
    done = report(server, THREADS, size)
    assert (done.outcome, done.requested, done.read_back) == (APPLIED, size, size), done
    assert tomcat.max_threads == size


@pytest.mark.parametrize("size", [12, 5, 20])
def test_connections_beyond_the_size_are_closed_when_it_is_read_back(
    server: PoolSizesServer, tomcat: Application, size: int
) -> None:
    done = report(server, CONNECTIONS, size)
    assert (done.outcome, done.requested, done.read_back) == (APPLIED, size, size), done
    assert tomcat.read(SETTINGS, "MaximumPoolSize") == tomcat.read(SETTINGS, "MinimumIdle") == size
    assert tomcat.read(HIKARI, "TotalConnections") <= size  # what a larger size allows is opened within 30 s


def test_fewer_threads_than_are_spare_by_default_are_in_force(server: PoolSizesServer, tomcat: Application) -> None:
    """Tomcat refuses fewer than `minSpareThreads`, 10 by default: these are lowered first, and come back later."""
    done = report(server, THREADS, SPARE - 5)
    assert (done.outcome, done.requested, done.read_back) == (APPLIED, SPARE - 5, SPARE - 5), done
    assert tomcat.max_threads == SPARE - 5
    assert tomcat.threads == SPARE - 5
    assert report(server, THREADS, FIRST).outcome == APPLIED
    assert tomcat.read(tomcat.mbean, "minSpareThreads") == SPARE


def test_what_is_in_use_is_told_with_the_size(server: PoolSizesServer, tomcat: Application) -> None:
    """Each of these beans tells what it has; of who waits for a connector's thread none does."""

    def occupancies(target: str, busy: int) -> list[Occupancy]:
        reports = [
            actuation.occupancy
            for actuation in server.reports
            if actuation.target_name == target and actuation.HasField("occupancy")
        ]
        return [occupancy for occupancy in reports if occupancy.busy_most >= busy]

    for target, waits in (("threads", False), ("connections", True), ("attribute", True)):
        until(f"what is in use of {target}", lambda target=target: bool(occupancies(target, 0)))
        assert all(occupancy.HasField("waiting") is waits for occupancy in occupancies(target, 0)), target
    with ThreadPoolExecutor(4) as users:
        stop = Event()
        asking = [users.submit(ask, f"{tomcat.url}/update", stop) for _ in range(4)]
        try:
            until("threads in use are told", lambda: bool(occupancies("threads", 1)))
            until("connections in use are told", lambda: bool(occupancies("connections", 1)))
        finally:
            stop.set()
        assert all(future.result() for future in asking)
    assert all(occupancy.busy_most <= 4 for occupancy in occupancies("threads", 1)), "more in use than there are users"


def test_what_the_actuator_asks_makes_no_spans(server: PoolSizesServer, spans: SpanSink, tomcat: Application) -> None:
    """The Java agent makes a SERVER span of what this test asks Jolokia, behind the JDK's HTTP server. Of what the
    actuator asked before it makes none, since that is marked."""
    count = len(server.reports)
    until("the actuator has read its targets again", lambda: len(server.reports) >= count + 3)
    assert tomcat.max_threads

    def agents() -> list[str]:
        asked = spans.servers("url.path", "user_agent.original")
        return [agent for path, agent in asked if path.startswith("/jolokia")]

    until("a span of this test's own question", lambda: bool(agents()))
    assert [agent for agent in agents() if not agent.startswith("python-requests")] == []


def ask(url: str, stop: Event) -> int:
    """How many requests were answered."""
    answered = 0
    with requests.Session() as session:
        while not stop.is_set():
            answered += session.get(url, timeout=30).ok
    return answered


def test_what_is_refused_is_told_so_with_what_is_in_force(server: PoolSizesServer, tomcat: Application) -> None:
    """Jolokia answers HTTP 200, and `maxThreads` would read as if it had been taken: it is put back."""
    assert tomcat.read(tomcat.mbean, "minSpareThreads") == SPARE
    done = report(server, ATTRIBUTE, SPARE - 5)
    assert (done.outcome, done.requested, done.read_back) == (FAILED, SPARE - 5, FIRST), done
    assert "in the response, want 200" in done.detail, done
    assert tomcat.max_threads == FIRST
