"""A real decider whose pool has an agent: what it learnt outlives a kill -9, and a server says it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from migrate.__main__ import schema_up
from sluice.common.v1.decision_pb2 import ACTION_UNSPECIFIED
from sluice.pools.v1 import pool_pb2
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_OBSERVED, Actuation
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice_kit.journal.shard_log import Log, serving
from sluice_kit.programs.decider import PATIENCE_S, Decider, feeding, windows_of_shop
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse
from sluice_kit.servers.kafka import Kafka

CART = pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_SERVER)
YAML = """
learning: {directory: DIRECTORY}
pools:
  - {service: cart, side: server, threshold: 150ms, model: dqn, bounds: {min: 2, max: 128}}
"""


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        yield server


def eventually(stub: rpc.PoolSizeServiceStub, wanted: Callable[[Explanation], bool]) -> Explanation:
    deadline, explanation = time.monotonic() + PATIENCE_S, Explanation()
    while time.monotonic() < deadline:
        size = Actuation(
            pool=CART, target_name="cart-1", actuator="test", outcome=ACTUATION_OUTCOME_OBSERVED, read_back=64
        )
        try:
            stub.ReportActuation(api.ReportActuationRequest(actuation=size))
            explanation = stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation
            if wanted(explanation):
                return explanation
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.NOT_FOUND  # noqa: PT017 (nothing was decided yet)
        time.sleep(0.2)
    raise AssertionError(f"not as wanted in time; last: {explanation}")


def test_what_an_agent_learnt_outlives_a_kill(broker: Kafka, database: ClickHouse, tmp_path: Path) -> None:
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    files = tmp_path / "agents"
    yaml = YAML.replace("DIRECTORY", str(files))
    decider = Decider(tmp_path, database.url, log.bootstrap, log.prefix, yaml)
    with serving(log, tmp_path, {}) as stub, feeding(database, windows_of_shop()):
        with decider.running():
            first = eventually(stub, lambda explanation: explanation.learned.checkpoint.steps > 0)
            assert [value.size for value in first.learned.values][-1] == 128
            assert first.pool_size.model == "dqn"
            assert first.pool_size.action != ACTION_UNSPECIFIED
        kept = first.learned.checkpoint
        assert (files / kept.name).exists()
        with decider.running():
            again = eventually(
                stub,
                lambda explanation: explanation.learned.until.ToMilliseconds() > first.learned.until.ToMilliseconds(),
            )
            assert again.learned.steps >= kept.steps
            assert again.learned.transitions >= first.learned.transitions
    assert "refused" not in decider.output.read_text()
