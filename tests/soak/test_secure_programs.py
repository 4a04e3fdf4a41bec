"""Jobs, decider, server and records with stores elsewhere: by TLS, in another database, as another user with a password
in a file, one of two addresses dead. They are kept out first, say by which setting, and lose nothing. The jobs are
submitted once ClickHouse lets them in; Neo4j keeps out their sinks."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
import requests
from neo4j import GraphDatabase, TrustCustomCAs

from migrate.__main__ import graph_up, schema_up
from sluice.cli.doctor.sinks import troubles
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_OBSERVED, Actuation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import FlinkJobs, keeper_at_rest
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.programs.decider import Decider
from sluice_kit.reference.graph import Edges, newest_calls
from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse, secure_clickhouse
from sluice_kit.servers.kafka import create_log
from sluice_kit.servers.neo4j import Neo4j, neo4j
from sluice_kit.servers.secure_kafka import certificates
from sluice_kit.traffic.sender import Sender, assert_exact
from sluice_kit.waiting import eventually, until

PREFIX = "elsewhere-"
JOBS = ("concurrency", "call_graph")
TABLES, GRAPH = "traces", "calls"
USER, READER, IN_GRAPH = "of_jobs", "of_deciders", "of_graphs"
SECRETS = {"clickhouse": "written-by-jobs", "reader": "read-by-deciders", "neo4j": "merged-by-jobs"}
POOL = Pool(service=f"{PREFIX}orders", side=SIDE_SERVER)
SIZE = 8
YAML = f"""
pools:
  - {{service: {POOL.service}, side: server, threshold: 100ms, bounds: {{min: 2, max: 64}}}}
"""


def user(name: str, password: str, profile: str, grants: str) -> str:
    return f"""<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
        <profile>{profile}</profile><quota>default</quota>
        <grants><query>GRANT {grants} ON {TABLES}.*</query></grants></{name}>"""


USERS = user(USER, SECRETS["clickhouse"], "default", "SELECT, INSERT") + user(
    READER, SECRETS["reader"], "reader", "SELECT, SHOW"
)


@dataclass(frozen=True)
class Stores:
    """authority: of both. files: of passwords by the keys of SECRETS, and of authorities that programs are told."""

    database: ClickHouse
    graph: Neo4j
    authority: Path
    files: Path

    @property
    def environment(self) -> dict[str, str]:
        """Of every program."""
        (dead,) = free_ports(1)
        return {
            "SLUICE_CLICKHOUSE": f"https://127.0.0.1:{dead},{self.database.url}",
            "SLUICE_CLICKHOUSE_CA": str(self.files / "clickhouse-ca"),
            "SLUICE_CLICKHOUSE_DATABASE": TABLES,
            "SLUICE_CLICKHOUSE_USER": USER,
            "SLUICE_CLICKHOUSE_PASSWORD": "",
            "SLUICE_CLICKHOUSE_PASSWORD_FILE": str(self.files / "clickhouse"),
            "SLUICE_CLICKHOUSE_READER": READER,
            "SLUICE_CLICKHOUSE_READER_PASSWORD_FILE": str(self.files / "reader"),
            "SLUICE_NEO4J": self.graph.url,
            "SLUICE_NEO4J_CA": str(self.files / "neo4j-ca"),
            "SLUICE_NEO4J_DATABASE": GRAPH,
            "SLUICE_NEO4J_USER": IN_GRAPH,
            "SLUICE_NEO4J_PASSWORD": "",
            "SLUICE_NEO4J_PASSWORD_FILE": str(self.files / "neo4j"),
        }

    def trust(self, store: str, authority: Path) -> None:
        (self.files / f"{store}-ca").write_text(authority.read_text())

    def let_in(self, store: str) -> None:
        """From now on the file has the right password."""
        (self.files / store).write_text(f"{SECRETS[store]}\n")

    def calls(self) -> Edges:
        auth = ("neo4j", self.graph.password)
        trusted = TrustCustomCAs(str(self.authority))
        query = """MATCH (a:Service)-[r:CALLS]->(b:Service) WHERE a.name STARTS WITH $prefix
                   RETURN a.name, b.name, r.window, r.calls, r.errors"""
        quiet: Any = {"notifications_min_severity": "OFF"}  # of what is not there yet
        tls: Any = {"encrypted": True, "trusted_certificates": trusted}
        with GraphDatabase.driver(self.graph.url, auth=auth, **tls, **quiet) as driver:
            records, _, _ = driver.execute_query(query, prefix=PREFIX, database_=GRAPH)
        return {(caller, callee): (window, calls, errors) for caller, callee, window, calls, errors in records}


class Elsewhere(Stack):
    """The stack, with its rows elsewhere."""

    def __init__(self, stack: Stack, stores: Stores) -> None:
        super().__init__(stack.address)
        self._stores = stores

    def rows(self, query: str, within_s: float = 60.0) -> list[dict[str, Any]]:
        parameters = {"database": TABLES, "default_format": "JSON", "output_format_json_quote_64bit_integers": "0"}
        answer = requests.post(
            self._stores.database.url,
            query.encode(),
            params=parameters,
            auth=(READER, SECRETS["reader"]),
            verify=str(self._stores.authority),
            timeout=within_s,
        )
        assert answer.ok, answer.text
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """With the schema, and wrong passwords in all files."""
    folder = tmp_path_factory.mktemp("elsewhere")
    made, database, graph, files = (folder / name for name in ("certificates", "database", "graph", "files"))
    for path in (made, database, graph, files):
        path.mkdir()
    certificates(made)
    for name in SECRETS:
        (files / name).write_text("wrong\n")
    with (
        secure_clickhouse(database, made, USERS) as engine,
        neo4j(graph, certificates=made, database=GRAPH) as server,
    ):
        authority = made / "ca.pem"
        schema_up(engine.url, TABLES, 60, login=(WRITER, PASSWORD), authority=str(authority))
        graph_up(server.url, server.password, 60, database=GRAPH, authority=str(authority))
        trusted = TrustCustomCAs(str(authority))
        auth = ("neo4j", server.password)
        with GraphDatabase.driver(server.url, auth=auth, encrypted=True, trusted_certificates=trusted) as driver:
            make = f"CREATE USER {IN_GRAPH} SET PLAINTEXT PASSWORD $password CHANGE NOT REQUIRED"
            driver.execute_query(make, password=SECRETS["neo4j"], database_="system")
        yield Stores(engine, server, authority, files)


@pytest.fixture(scope="module")
def flink(stack: Stack) -> Iterator[FlinkJobs]:
    with keeper_at_rest(stack) as jobs:
        jobs.cancel_all()
        yield jobs


def test_who_is_kept_out_says_why_and_goes_on_where_it_was(
    stack: Stack, flink: FlinkJobs, stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = stores.environment
    others = tmp_path / "others"
    others.mkdir()
    certificates(others)
    for name in ("clickhouse", "neo4j"):
        stores.trust(name, others / "ca.pem")
    elsewhere = Elsewhere(stack, stores)
    sender = Sender(elsewhere, PREFIX)
    words = [*JOBS, "--name", "elsewhere", "--start", datetime.now(UTC).isoformat()]
    with ThreadPoolExecutor(1) as beside:
        printed = tmp_path / "submission.log"
        submission = beside.submit(flink.run, *words, environment=variables, log=printed)
        database = f"{stores.database.url}: "
        waits(printed, f"{database}TLS fails, SLUICE_CLICKHOUSE_CA={variables['SLUICE_CLICKHOUSE_CA']}: ")
        stores.trust("clickhouse", stores.authority)
        waits(printed, f"{database}refuses SLUICE_CLICKHOUSE_USER={USER} with the password of {stores.files}")
        stores.let_in("clickhouse")
        job = submission.result()
    sender.send(sender.traces())
    says(stack, job, f"TLS with {stores.graph.url} fails, SLUICE_NEO4J_CA={variables['SLUICE_NEO4J_CA']}: ")
    stores.trust("neo4j", stores.authority)
    says(stack, job, f"{stores.graph.url} refuses SLUICE_NEO4J_USER={IN_GRAPH} with the password of {stores.files}")
    assert stores.calls() == {}
    stores.let_in("neo4j")
    assert_exact(sender, *JOBS)
    graph_is_current(stores, sender)

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    log = f"{uuid.uuid4().hex[:8]}_"
    create_log(stack.address["SLUICE_KAFKA"], tmp_path, log, 1)
    decider = Decider(tmp_path, variables["SLUICE_CLICKHOUSE"], stack.address["SLUICE_KAFKA"], log, YAML)
    with decider.running():
        decider.wait_for_log(f"refuses SLUICE_CLICKHOUSE_READER={READER}")
    (stores.files / "reader").write_text(SECRETS["reader"])
    answers_and_records(sender, decider, log, tmp_path)
    assert_exact(sender, *JOBS)
    graph_is_current(stores, sender)
    flink.cancel(job)


def waits(log: Path, cause: str) -> None:
    """Until the submission says that it waits, and why."""
    until(cause, lambda: cause in log.read_text() if log.exists() else False)


def says(stack: Stack, job: str, text: str) -> None:
    """Waits until a sink does."""
    url = f"{stack.address['SLUICE_FLINK']}/jobs/{job}"
    until(text, lambda: any(text in trouble for trouble in troubles(url, 10.0)))


def graph_is_current(stores: Stores, sender: Sender) -> None:
    newest = newest_calls(sender.reference())
    assert newest
    assert eventually(stores.calls, newest) == newest


def answers_and_records(sender: Sender, decider: Decider, log: str, folder: Path) -> None:
    """By windows of now that the jobs bring there; what is decided becomes rows there, and a server reads them."""
    address = f"127.0.0.1:{free_ports(1)[0]}"
    kafka = sender.stack.address["SLUICE_KAFKA"]
    environment = os.environ | {"SLUICE_KAFKA": kafka, "SLUICE_TOPIC_PREFIX": log, "SLUICE_RECOMMENDER": address}
    began = time.time()
    with ExitStack() as up:
        up.enter_context(decider.running())
        for name, words, come in (("server", [], lambda: ready(address)), ("records", ["records"], lambda: True)):
            command: list[str | Path] = [BINARY, *words]
            up.enter_context(running(name, command, come, folder / f"{name}.log", 120, environment))
        stub = PoolSizeServiceStub(up.enter_context(grpc.insecure_channel(address)))
        sizes: list[PoolSize] = []

        def named() -> bool:
            sender.send(sender.traces(20))
            actuation = Actuation(
                pool=POOL, target_name="orders", actuator="test", outcome=ACTUATION_OUTCOME_OBSERVED, previous=SIZE
            )
            sizes[:] = stub.ListPoolSizes(api.ListPoolSizesRequest(), timeout=60).pool_sizes
            if not sizes:  # the decider begins
                return False
            stub.ReportActuation(api.ReportActuationRequest(actuation=actuation), timeout=60)
            return sizes[0].HasField("target") and sizes[0].data_until.seconds > began

        until("a size is named by windows of now", named)
        query = f"SELECT max(revision) FROM recommendations WHERE service = '{POOL.service}' AND target IS NOT NULL"
        until("it is recorded", lambda: sender.stack.value(query) >= sizes[0].revision)
        history = stub.ListPoolSizeHistory(api.ListPoolSizeHistoryRequest(pool=POOL), timeout=60)
        assert sizes[0].revision in [answer.pool_size.revision for answer in history.answers]
