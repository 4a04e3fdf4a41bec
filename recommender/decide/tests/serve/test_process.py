"""The whole process on a real ClickHouse, with the windows of the simulated shop in it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest

from sluice.cli.pools.history import HISTORY_SQL
from sluice.common.v1 import decision_pb2, scaling_pb2
from sluice.pools.v1 import actuation_pb2, evidence_pb2, pool_pb2, pool_size_pb2
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from support.clickhouse import PASSWORD, WRITER, ClickHouse
from support.kafka import Kafka
from support.ports import free_ports
from testbed.presets.shop import CART_THREADS, shop
from testbed.simulation import Simulation
from testbed.spans import Span
from testbed.windows import windows

pytestmark = pytest.mark.integration

REPOSITORY = Path(__file__).resolve().parents[4]
CART = pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_SERVER)
SIMULATED_S = 75
# Much more than it takes: the machine may be busy.
PATIENCE_S = 200
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]

YAML = """
slos:
  - {name: checkout, service: frontend, latency: 250ms}
pools:
  - {service: cart, side: server, slo: checkout, upstream: 100ms, bounds: {min: 2, max: 128}}
  - {service: catalogue, side: client, peer: catalogue-db, threshold: 120ms}
period: 1s
window: 300s
"""


@pytest.fixture(scope="module")
def shop_windows() -> list[list[Any]]:
    """A bit more than a minute of the shop with 64 threads in cart; buckets as milliseconds since its start."""
    spans: list[Span] = []
    Simulation(shop(sizes={CART_THREADS: 64}), 1, spans.append).run_until(SIMULATED_S)
    return [
        [
            *(key.side, key.service, key.peer, key.instance, key.bucket_ns // 10**6, 100),
            *(window.busy_ns, window.completions, window.errors, dict(window.latency), window.completions + 1),
        ]
        for key, window in windows(spans).items()
    ]


def insert(database: ClickHouse, rows: list[list[Any]]) -> None:
    """As if the run had ended just now."""
    start_ms = (time.time_ns() // 10**6 - SIMULATED_S * 1000) // 100 * 100
    shifted = [[*row[:4], datetime.fromtimestamp((start_ms + row[4]) / 1000, UTC), *row[5:]] for row in rows]
    database.client("sluice").insert("windows", shifted, column_names=COLUMNS)


class Recommender:
    def __init__(self, folder: Path, database_url: str, kafka: str, topic: str) -> None:
        self.path, self.log = folder / "sluice.yaml", folder / "log"
        self.path.write_text(YAML)
        self.port = free_ports(1)[0]
        self._environment = os.environ | {
            "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
            "SLUICE_CLICKHOUSE": database_url,
            "SLUICE_CLICKHOUSE_USER": WRITER,
            "SLUICE_CLICKHOUSE_PASSWORD": PASSWORD,
            "SLUICE_RECOMMENDER": f"127.0.0.1:{self.port}",
            "SLUICE_KAFKA": kafka,
            "SLUICE_STATE_TOPIC": topic,
        }
        self.process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def running(self) -> Iterator[rpc.PoolSizeServiceStub]:
        """Starts the process, and enters once it listens: a channel made earlier would back off for seconds."""
        starts = self.log_text().count("listening on")
        command = [sys.executable, "-m", "sluice.serve", "--config", str(self.path)]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, env=self._environment, stdout=out, stderr=out)
        try:
            self.wait_for_log("listening on", starts + 1)
            with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
                yield rpc.PoolSizeServiceStub(channel)
        finally:
            self.process.kill()
            self.process.wait()

    def log_text(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def wait_for_log(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.log_text().count(text) < times:
            assert time.monotonic() < deadline, self.log_text()
            time.sleep(0.05)


@pytest.fixture
def topic(broker: Kafka) -> str:
    """One of its own: what a pool of another test did must not be known."""
    return broker.topic(f"states-{uuid4().hex}", like="sluice_state")


@pytest.fixture
def recommender(tmp_path: Path, database: ClickHouse, broker: Kafka, topic: str) -> Recommender:
    return Recommender(tmp_path, database.url, broker.bootstrap, topic)


def eventually(
    stub: rpc.PoolSizeServiceStub, wanted: Callable[[pool_size_pb2.PoolSize], bool]
) -> pool_size_pb2.PoolSize:
    """Cart's answer once it is as wanted."""
    deadline = time.monotonic() + PATIENCE_S
    size = None
    while time.monotonic() < deadline:
        try:
            request = api.GetPoolSizeRequest(pool=CART)
            size = stub.GetPoolSize(request, timeout=PATIENCE_S).pool_size
            if wanted(size):
                return size
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE  # noqa: PT017 (not ready yet)
        time.sleep(0.1)
    raise AssertionError(f"not as wanted in time; last: {size}")


def provided(size: pool_size_pb2.PoolSize) -> bool:
    return size.state == pool_size_pb2.STATE_PROVIDED


def test_from_windows_to_an_answer_and_over_a_kill(
    recommender: Recommender, database: ClickHouse, shop_windows: list[list[Any]]
) -> None:
    insert(database, shop_windows)
    with recommender.running() as stub:
        first = eventually(stub, provided)
        assert 8 <= first.target <= 16
        model = explained(stub)
        assert model.latency_source == evidence_pb2.LATENCY_SOURCE_CALLER
        assert model.buckets > 500
        actuation = actuation_pb2.Actuation(
            pool=CART,
            target_name="cart.threads",
            actuator="test",
            outcome=actuation_pb2.ACTUATION_OUTCOME_OBSERVED,
            previous=64,
        )
        stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))
        seen = eventually(stub, lambda size: size.HasField("current") and size.state != pool_size_pb2.STATE_NO_DATA)
        assert seen.current == 64
        assert seen.revision > first.revision
        # By now it is the belief that decides, over what the windows show of 64 threads.
        assert explained(stub).belief.points
        eventually(stub, lambda size: size.target < 64 and size.action == decision_pb2.ACTION_APPLY)
        assert recommender.process is not None
        recommender.process.kill()

    client = database.client("sluice")
    audit = client.query("SELECT service, side, outcome, previous, read_back, actuator FROM actuations").result_rows
    assert audit == [("cart", "server", "OBSERVED", 64, None, "test")]
    stored = client.query("SELECT max(revision) FROM recommendations WHERE service = 'cart'").result_rows[0][0]
    assert stored >= seen.revision

    client.command("TRUNCATE TABLE windows")
    with recommender.running() as stub:
        held = eventually(stub, lambda size: bool(size.state))
        assert held.revision >= stored
        # What was decided outlived the kill, though the windows are gone and no actuator has reported yet.
        assert held.target == seen.target or not held.HasField("current")


def explained(stub: rpc.PoolSizeServiceStub) -> evidence_pb2.Explanation:
    return stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation


def test_a_kill_loses_neither_pauses_nor_scalings_nor_revisions(
    recommender: Recommender, database: ClickHouse, shop_windows: list[list[Any]]
) -> None:
    insert(database, shop_windows)
    client = database.client("sluice")
    with recommender.running() as stub:
        first = eventually(stub, provided)
        # In force since long ago: the windows are of this CPU limit.
        one_core = scaling_pb2.ScalingEvent(service="cart", cpu_limit_cores=1.0, version="v1", source="test")
        one_core.at.FromSeconds(1_000_000_000)
        assert stub.NotifyScaling(api.NotifyScalingRequest(scaling_event=one_core)).pools == 1
        eventually(stub, lambda _: explained(stub).baseline.cpu_limit_cores == 1.0)
        stub.PausePool(api.PausePoolRequest(pool=CART, by="ada", why="release"))
        paused = eventually(stub, lambda size: size.state == pool_size_pb2.STATE_PAUSED)
        assert recommender.process is not None
        recommender.process.kill()

    with recommender.running() as stub:
        back = eventually(stub, lambda size: size.state == pool_size_pb2.STATE_PAUSED)
        assert back.revision >= paused.revision > first.revision
        assert explained(stub).baseline.cpu_limit_cores == 1.0
        stub.ResumePool(api.ResumePoolRequest(pool=CART, by="ada"))
        eventually(stub, lambda size: size.state != pool_size_pb2.STATE_PAUSED)
    told = client.query("SELECT cpu_limit_cores, version FROM scaling_events FINAL ORDER BY at").result_rows
    assert told == [(1.0, "v1")]
    history = client.query(HISTORY_SQL, parameters={"service": "cart", "side": "server", "peer": "", "limit": 50})
    happened = [(what, detail) for _, what, detail in history.result_rows]
    assert ("scaled", "cart by test: 1 cores version v1") in happened
    assert ("paused", "by ada: release") in happened
    revisions = client.query(
        "SELECT revision FROM recommendations FINAL WHERE service = 'cart' ORDER BY at"
    ).result_rows
    assert revisions == sorted(revisions)


def test_reload_takes_a_legal_file_only_and_sigterm_ends(recommender: Recommender) -> None:
    with recommender.running() as stub:
        eventually(stub, lambda size: size.state == pool_size_pb2.STATE_NO_DATA)
        process = recommender.process
        assert process is not None

        recommender.path.write_text("pools: [{service: cart, side: server, threshold: -1ms}]")
        process.send_signal(signal.SIGHUP)
        recommender.wait_for_log("reload kept the old configuration")
        assert "pools[0].threshold: '-1ms' is not legal; legal: > 0 ms" in recommender.log.read_text()
        assert len(stub.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 2

        recommender.path.write_text("pools: [{service: cart, side: server, threshold: 99ms}]")
        process.send_signal(signal.SIGHUP)
        recommender.wait_for_log("reloaded")
        deadline = time.monotonic() + 10
        while len(stub.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(stub.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 1

        process.terminate()
        assert process.wait(15) == 0


def test_a_new_slo_is_answered_for_at_once(recommender: Recommender) -> None:
    """Periods of ten minutes: only the signal can have brought the second answer."""
    yaml = YAML.replace("period: 1s", "period: 10m").replace("window: 300s", "lease: 20m")
    recommender.path.write_text(yaml)

    def threshold_ms(stub: rpc.PoolSizeServiceStub) -> float:
        explained = stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation
        return explained.threshold.value.ToMilliseconds()

    with recommender.running() as stub:
        eventually(stub, lambda size: size.state == pool_size_pb2.STATE_NO_DATA)
        assert threshold_ms(stub) == 150
        recommender.path.write_text(yaml.replace("latency: 250ms", "latency: 400ms"))
        assert recommender.process is not None
        begun = time.monotonic()
        recommender.process.send_signal(signal.SIGHUP)
        while threshold_ms(stub) != 300:
            assert time.monotonic() - begun < PATIENCE_S, "the answer did not follow"
            time.sleep(0.05)


def test_without_a_database_it_starts_and_says_that_it_is_not_ready(tmp_path: Path, broker: Kafka, topic: str) -> None:
    recommender = Recommender(tmp_path, f"http://127.0.0.1:{free_ports(1)[0]}", broker.bootstrap, topic)
    with recommender.running() as stub:
        with pytest.raises(grpc.RpcError) as caught:
            stub.ListPoolSizes(api.ListPoolSizesRequest(), timeout=PATIENCE_S)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        recommender.wait_for_log("control period failed")
        time.sleep(2.5)  # two more periods
        assert recommender.process is not None
        assert recommender.process.poll() is None
    assert recommender.log.read_text().count("control period failed") == 1


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "recommender/decide/src")}
    command = [sys.executable, "-m", "sluice.serve", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_check_says_whether_a_file_is_legal() -> None:
    good = run("--config", str(REPOSITORY / "deploy/local/sluice.yaml"), "--check")
    assert (good.returncode, good.stdout.endswith("2 pools, 1 SLOs, legal\n")) == (0, True)
    bad = run("--config", str(Path(__file__).parents[1] / "config/bad/negative_slo.yaml"), "--check")
    assert bad.returncode == 2
    assert "slos[0].latency: '-250ms' is not legal; legal: > 0 ms" in bad.stderr
