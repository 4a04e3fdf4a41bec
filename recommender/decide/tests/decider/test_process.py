"""The decider's process on a real ClickHouse and a real journal, with the windows of the simulated shop; a server
serves its decisions."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import requests

from sluice.cli.pools.changing import HISTORY_SQL
from sluice.common.v1 import decision_pb2, scaling_pb2
from sluice.pools.v1 import actuation_pb2, evidence_pb2, pool_pb2, pool_size_pb2
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.pools.windows.delay import LONGEST_MS, START_MS
from sluice_kit.journal.shard_log import Log, recording, serving
from sluice_kit.machine.ports import free_ports
from sluice_kit.programs.decider import PATIENCE_S, REPOSITORY, Decider, feeding, insert, windows_of_shop
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration

CART = pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_SERVER)
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
    return windows_of_shop()


@pytest.fixture
def log(broker: Broker) -> Log:
    """One of its own: what a pool of another test did must not be known."""
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    return log


@pytest.fixture
def server(log: Log, tmp_path: Path) -> Iterator[rpc.PoolSizeServiceStub]:
    with serving(log, tmp_path, {}) as stub:
        yield stub


@pytest.fixture
def decider(tmp_path: Path, database: ClickHouse, log: Log) -> Decider:
    return Decider(tmp_path, database.url, log.bootstrap, log.prefix, YAML)


def eventually(
    stub: rpc.PoolSizeServiceStub, wanted: Callable[[pool_size_pb2.PoolSize], bool]
) -> pool_size_pb2.PoolSize:
    """Cart's answer once it is as wanted."""
    deadline = time.monotonic() + PATIENCE_S
    size = None
    while time.monotonic() < deadline:
        try:
            size = stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART), timeout=PATIENCE_S).pool_size
            if wanted(size):
                return size
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.NOT_FOUND  # noqa: PT017 (nothing was decided yet)
        time.sleep(0.1)
    raise AssertionError(f"not as wanted in time; last: {size}")


def explained(stub: rpc.PoolSizeServiceStub) -> evidence_pb2.Explanation:
    return stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation


def provided(size: pool_size_pb2.PoolSize) -> bool:
    return size.state == pool_size_pb2.STATE_PROVIDED


def observed(stub: rpc.PoolSizeServiceStub, size: int) -> None:
    actuation = actuation_pb2.Actuation(
        pool=CART,
        target_name="cart.threads",
        actuator="test",
        outcome=actuation_pb2.ACTUATION_OUTCOME_OBSERVED,
        previous=size,
    )
    stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))


def test_from_windows_to_an_answer_and_over_a_kill(
    decider: Decider, server: rpc.PoolSizeServiceStub, database: ClickHouse, shop_windows: list[list[Any]]
) -> None:
    insert(database, shop_windows)
    with decider.running() as process:
        first = eventually(server, provided)
        assert 8 <= first.target <= 16
        model = explained(server)
        assert model.latency_source == evidence_pb2.LATENCY_SOURCE_CALLER
        assert model.buckets >= 300
        assert first.threshold.ToMilliseconds() == 150
        assert first.HasField("data_until")
        observed(server, 64)
        seen = eventually(server, lambda size: size.HasField("current") and size.state != pool_size_pb2.STATE_NO_DATA)
        assert seen.current == 64
        assert seen.revision > first.revision
        # By now it is the belief that decides, over what the windows show of 64 threads.
        eventually(server, lambda size: size.target < 64 and size.action == decision_pb2.ACTION_APPLY)
        eventually(server, lambda _: bool(explained(server).belief.points))
        page = decider.page("/metrics")
        assert "sluice_decider_shards 1.0" in page
        assert "sluice_decider_pools 2.0" in page
        assert "sluice_decider_newest_window_age_seconds" in page
        assert decider.page("/livez") == decider.page("/readyz") == "ok\n"
        before = eventually(server, lambda _: True)
        process.kill()

    database.client("sluice").command("TRUNCATE TABLE windows")
    with decider.running():
        decider.wait_for_log("shard 0 taken", 2)
        held = eventually(server, lambda size: size.state == pool_size_pb2.STATE_NO_DATA)
        assert held.revision > before.revision
        # What was decided outlived the kill, though the windows are gone; so did the size that was read back.
        assert held.target == held.current == 64


def test_a_kill_loses_neither_pauses_nor_scalings_nor_revisions(
    decider: Decider,
    server: rpc.PoolSizeServiceStub,
    log: Log,
    database: ClickHouse,
    shop_windows: list[list[Any]],
    tmp_path: Path,
) -> None:
    insert(database, shop_windows)
    client = database.client("sluice")
    with recording(log, database, tmp_path):
        with decider.running() as process:
            first = eventually(server, provided)
            # In force since long ago: the windows are of this CPU limit.
            one_core = scaling_pb2.ScalingEvent(service="cart", cpu_limit_cores=1.0, version="v1", source="test")
            one_core.at.FromSeconds(1_000_000_000)
            assert server.NotifyScaling(api.NotifyScalingRequest(scaling_event=one_core)).pools == 1
            server.PausePool(api.PausePoolRequest(pool=CART, by="ada", why="release"))
            paused = eventually(server, lambda size: size.state == pool_size_pb2.STATE_PAUSED)
            eventually(server, lambda _: explained(server).baseline.cpu_limit_cores == 1.0)
            process.kill()

        with decider.running():
            decider.wait_for_log("shard 0 taken", 2)
            back = eventually(server, lambda size: size.state == pool_size_pb2.STATE_PAUSED)
            assert back.revision >= paused.revision > first.revision
            server.ResumePool(api.ResumePoolRequest(pool=CART, by="ada"))
            eventually(server, lambda size: size.state != pool_size_pb2.STATE_PAUSED)
            eventually(server, lambda _: explained(server).baseline.cpu_limit_cores == 1.0)

        def rows(query: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in client.query(query).result_rows]

        eventually(server, lambda _: len(rows("SELECT 1 FROM pool_pauses FINAL")) == 2)
        assert rows("SELECT cpu_limit_cores, version FROM scaling_events FINAL ORDER BY at") == [(1.0, "v1")]
        history = client.query(HISTORY_SQL, parameters={"service": "cart", "side": "server", "peer": "", "limit": 50})
        happened = [(what, detail) for _, what, detail in history.result_rows]
        assert ("scaled", "cart by test: 1 cores version v1") in happened
        assert ("paused", "by ada: release") in happened
        revisions = rows("SELECT revision FROM recommendations FINAL WHERE service = 'cart' ORDER BY at")
        assert revisions == sorted(revisions)


def test_after_all_was_down_nothing_is_decided_from_windows_of_before(
    decider: Decider, server: rpc.PoolSizeServiceStub, database: ClickHouse, shop_windows: list[list[Any]]
) -> None:
    """As over `make down && make up` under APPLY: an actuator is back before the pipeline brings what came since."""

    def applied(size: pool_size_pb2.PoolSize) -> bool:
        observed(server, 64)
        return size.action == decision_pb2.ACTION_APPLY and size.target < 64

    with feeding(database, shop_windows), decider.running() as process:
        eventually(server, provided)
        eventually(server, applied)
        process.kill()
        process.wait()
    down_s = time.time()
    lease_s = 30
    # One that takes over decides at once from windows as old as the one before decided from: these are older than any.
    time.sleep((START_MS + LONGEST_MS) / 1000)

    with decider.running():
        decider.wait_for_log("shard 0 taken", 2)
        # Periods without a shard count too: on an idle machine there are some before the dead one's is given away.
        taken = decider.metric("sluice_decider_periods_total")
        while decider.metric("sluice_decider_periods_total") < taken + 5:
            observed(server, 64)
            size = eventually(server, lambda _: True)
            assert size.computed_at.ToNanoseconds() / 1e9 <= down_s
            assert size.valid_until.ToNanoseconds() / 1e9 <= down_s + lease_s
            time.sleep(0.1)
        assert decider.metric("sluice_decider_not_renewed") == 2
        with feeding(database, shop_windows):
            eventually(server, lambda size: applied(size) and size.computed_at.ToNanoseconds() / 1e9 > down_s)


def test_reload_takes_a_legal_file_only_and_sigterm_gives_the_shard_away(
    decider: Decider, server: rpc.PoolSizeServiceStub
) -> None:
    with decider.running() as process:
        eventually(server, lambda size: size.state == pool_size_pb2.STATE_NO_DATA)
        decider.path.write_text("pools: [{service: cart, side: server, threshold: -1ms}]")
        process.send_signal(signal.SIGHUP)
        decider.wait_for_log("reload kept the old configuration")
        assert "pools[0].threshold: '-1ms' is not legal; legal: > 0 ms" in decider.output.read_text()
        assert len(server.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 2

        decider.path.write_text("generation: 1\npools: [{service: cart, side: server, threshold: 99ms}]")
        process.send_signal(signal.SIGHUP)
        decider.wait_for_log("reloaded")
        eventually(server, lambda _: len(server.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 1)

        decider.path.write_text(YAML)
        process.send_signal(signal.SIGHUP)
        decider.wait_for_log("generation 0 is older")
        assert decider.metric("sluice_decider_configuration_refused") == 1

        # Without a signal, as a mounted ConfigMap changes.
        decider.path.write_text(f"generation: 2\n{YAML}")
        decider.wait_for_log("reloaded", 2)
        eventually(server, lambda _: len(server.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes) == 2)
        assert decider.metric("sluice_decider_configuration_refused") == 0
        for outcome in ("taken", "refused"):
            assert decider.metric(f'sluice_decider_reloads_total{{outcome="{outcome}"}}') == 2

        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def ready(decider: Decider) -> bool:
    try:
        return requests.get(f"http://{decider.pages}/readyz", timeout=60).ok
    except requests.ConnectionError:
        return False  # it does not listen yet


def test_the_shards_of_a_decider_that_ends_go_to_another_at_once(
    decider: Decider, database: ClickHouse, log: Log, tmp_path: Path
) -> None:
    folder = tmp_path / "heir"
    folder.mkdir()
    heir = Decider(folder, database.url, log.bootstrap, log.prefix, YAML)
    with decider.running() as process:
        decider.wait_for_log("shard 0 taken")
        with heir.running():
            until("the heir is ready", lambda: ready(heir))
            process.terminate()
            assert process.wait(PATIENCE_S) == 0
            assert "did not end in time" not in decider.output.read_text()
            heir.wait_for_log("shard 0 taken")


def test_names_that_cannot_be_resolved_are_waited_for(tmp_path: Path) -> None:
    decider = Decider(tmp_path, "http://clickhouse.invalid:8123", "kafka.invalid:9092", "any_", YAML)
    with decider.running() as process:
        decider.wait_for_log("waiting for clickhouse: ")
        decider.wait_for_log("waiting for kafka: ")
        assert decider.page("/livez") == "ok\n"
        parts = [line.partition(": ")[0] for line in decider.page("/readyz", 503).splitlines()]
        assert parts == ["decider", "clickhouse", "schema", "kafka"]
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_a_new_slo_is_answered_for_at_once(decider: Decider, server: rpc.PoolSizeServiceStub) -> None:
    """Periods of ten minutes: only the signal can have brought the second answer."""
    yaml = YAML.replace("period: 1s", "period: 10m").replace("window: 300s", "lease: 20m")
    decider.path.write_text(yaml)
    with decider.running() as process:
        eventually(server, lambda size: size.threshold.ToMilliseconds() == 150)
        decider.path.write_text(yaml.replace("latency: 250ms", "latency: 400ms"))
        process.send_signal(signal.SIGHUP)
        eventually(server, lambda _: explained(server).threshold.value.ToMilliseconds() == 300)


def test_what_callers_tell_begins_the_next_period(decider: Decider, server: rpc.PoolSizeServiceStub) -> None:
    decider.path.write_text(YAML.replace("period: 1s", "period: 10m").replace("window: 300s", "lease: 20m"))
    with decider.running():
        eventually(server, lambda size: size.state == pool_size_pb2.STATE_NO_DATA)
        server.PausePool(api.PausePoolRequest(pool=CART, by="ada", why="release"))
        eventually(server, lambda size: size.state == pool_size_pb2.STATE_PAUSED)


def test_without_a_database_it_starts_and_nothing_is_decided(tmp_path: Path, log: Log) -> None:
    decider = Decider(tmp_path, f"http://127.0.0.1:{free_ports(1)[0]}", log.bootstrap, log.prefix, YAML)
    with decider.running() as process:
        decider.wait_for_log("waiting for clickhouse: ")
        assert process.poll() is None
        assert decider.page("/livez") == "ok\n"
        assert "clickhouse: " in decider.page("/readyz", 503)
        assert "shard 0 taken" not in decider.output.read_text()


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "recommender/decide/src")}
    command = [sys.executable, "-m", "sluice.decider", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_check_says_whether_a_file_is_legal() -> None:
    good = run("--config", str(REPOSITORY / "deploy/local/sluice.yaml"), "--check")
    assert (good.returncode, good.stdout.endswith("2 pools, 1 SLOs, legal\n")) == (0, True)
    bad = run("--config", str(Path(__file__).parents[1] / "config/bad/negative_slo.yaml"), "--check")
    assert bad.returncode == 2
    assert "slos[0].latency: '-250ms' is not legal; legal: > 0 ms" in bad.stderr
