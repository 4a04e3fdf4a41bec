"""The shipped actuator on pools within running Go, Python and Node programs, which are under load on PostgreSQL."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

import psycopg
import pytest
import requests

from sluice.pools.v1.actuation_pb2 import Actuation, ActuationOutcome
from sluice.pools.v1.pool_pb2 import Pool, Side
from sluice_kit.fakes.pool_sizes_server import PoolSizesServer
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.postgres import postgres
from sluice_kit.waiting import eventually, until
from stack.installs import ACTUATORS, BIN, NODE_PACKAGES, RESIZABLE
from stack.layout import SLUICE_PYTHON
from stack.toolchain import npm_path

APPLIED = ActuationOutcome.ACTUATION_OUTCOME_APPLIED
PROGRAMS = ("go", "python", "node")
FIRST, CLIENTS = 16, 24
"""Connections at first, and clients that ask without a pause: all connections are in use."""
TOKEN = "0123456789abcdef0123"


@dataclass(frozen=True)
class Programs:
    server: PoolSizesServer
    database: str
    ports: dict[str, int]

    def connections(self, program: str) -> int:
        """As PostgreSQL counts them."""
        with psycopg.connect(self.database) as database:
            query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
            row = database.execute(query, (f"resizable-{program}",)).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    folder = tmp_path_factory.mktemp("resizable")
    token = folder / "token"
    token.write_text(TOKEN)
    status, *free = free_ports(4)
    ports = dict(zip(PROGRAMS, free, strict=True))
    with ExitStack() as up:
        server = up.enter_context(PoolSizesServer())
        url = up.enter_context(postgres(os.sched_getaffinity(0), folder / "postgres.log"))
        database = urlsplit(url.removeprefix("jdbc:"))
        counted = f"host=127.0.0.1 port={database.port} user=sluice dbname=postgres"
        until("PostgreSQL takes connections", lambda: _connects(counted))
        environment = os.environ | {
            "CONNECTIONS": str(FIRST),
            "CLIENTS": str(CLIENTS),
            "PYTHONPATH": str(ACTUATORS / "handlers/python"),
            "NODE_PATH": str(NODE_PACKAGES / "node_modules"),
        }
        beside = npm_path().with_name("node")
        node = beside if beside.is_absolute() else shutil.which("node") or "node"
        for name, program in {
            "go": [BIN / "resizable"],
            "python": [SLUICE_PYTHON, RESIZABLE / "python/resizable.py"],
            "node": [node, RESIZABLE / "node/resizable.js"],
        }.items():
            command = [*program, str(ports[name]), token, str(database.port)]
            ready = answers(f"http://127.0.0.1:{ports[name]}/rows", 401)
            up.enter_context(running(name, command, ready, folder / f"{name}.log", 60, environment))
        config = folder / "actuator.yaml"
        names = {"status": f"127.0.0.1:{status}", "recommender": server.address, "token": token, **ports}
        config.write_text(Template(Path(__file__).with_name("resizable.yaml").read_text()).substitute(names))
        command = [BIN / "sluice-actuator", "--config", config]
        ready = answers(f"http://127.0.0.1:{status}/readyz", 200)
        up.enter_context(running("actuator", command, ready, folder / "actuator.log", 60))
        yield Programs(server, counted, ports)


def _connects(database: str) -> bool:
    try:
        psycopg.connect(database).close()
        return True
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("size", [4, 20, 7])
def test_the_database_has_as_many_connections_as_were_said(programs: Programs, size: int) -> None:
    """Under load, up and down: APPLIED says what PostgreSQL counts."""
    revisions = {
        name: programs.server.publish(Pool(service=name, side=Side.SIDE_CLIENT, peer="postgres"), size)
        for name in PROGRAMS
    }
    for name, revision in revisions.items():

        def mine(name: str = name, revision: int = revision) -> list[Actuation]:
            reports = programs.server.reports
            return [
                report
                for report in reports
                if report.target_name == name and report.revision == revision and report.requested
            ]

        until(f"{name}: the report about {size}", lambda mine=mine: bool(mine()))
        done = mine()[0]
        assert (done.outcome, done.read_back) == (APPLIED, size), done
        assert eventually(lambda name=name: programs.connections(name), size) == size


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_in_use_is_told_with_the_size(programs: Programs, name: str) -> None:
    """24 clients without a pause and 4 connections: these are in use, and some 20 wait. Node's and Python's wait in a
    queue that is read at one moment; Go's are the mean of the time that they waited."""
    revision = programs.server.publish(Pool(service=name, side=Side.SIDE_CLIENT, peer="postgres"), 4)

    def full_reports() -> list[Actuation]:
        mine = [
            report for report in programs.server.reports if report.target_name == name and report.revision == revision
        ]
        reports = [report for report in mine if report.read_back == 4]
        return [report for report in reports if report.occupancy.full and report.occupancy.waiting_mean >= 10]

    until(f"{name}: a report that it is full and callers wait", lambda: bool(full_reports()))
    use = full_reports()[-1].occupancy
    assert use.busy_most == 4
    assert use.full >= 0.5 * use.readings
    assert use.waiting_most <= CLIENTS


@pytest.mark.parametrize("name", PROGRAMS)
def test_handlers_refuse_alike(programs: Programs, name: str) -> None:
    url = f"http://127.0.0.1:{programs.ports[name]}/rows"
    known = {"Authorization": f"Bearer {TOKEN}"}
    before = requests.get(url, headers=known, timeout=5).json()["size"]
    assert requests.put(url, json={"size": 3}, timeout=5).status_code == 401
    assert (
        requests.put(url, json={"size": 3}, headers={"Authorization": f"Bearer {TOKEN}4"}, timeout=5).status_code == 401
    )
    assert requests.get(f"{url}s", headers=known, timeout=5).status_code == 404
    for size in (0, -1, 65536, 2.5, "3", None, True):
        assert requests.put(url, json={"size": size}, headers=known, timeout=5).status_code == 400, size
    assert requests.put(url, data=" " * 2000 + '{"size": 3}', headers=known, timeout=5).status_code == 400
    assert requests.get(url, headers=known, timeout=5).json()["size"] == before
