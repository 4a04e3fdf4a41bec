"""A stock Envoy is given the size of a pool as max_connections of a cluster, while callers keep it full: it grows and
shrinks, none of their calls fails, and what it acknowledged is what the journal has as read back."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import ACTION_APPLY, ACTION_HOLD, Action
from sluice.model.keys import PoolKey, SubsetKey
from sluice.pools.names import message_of, pool_name
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_APPLIED
from sluice.pools.v1.log_pb2 import ObservedSize, Report
from sluice.pools.v1.pool_size_pb2 import BASIS_CURVE, STATE_PROVIDED, PoolSize
from sluice.subsets.names import containers_name, subset_name
from sluice.subsets.names import message_of as subset_message
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED as SUBSET_PROVIDED
from sluice.subsets.v1.subset_pb2 import Endpoint, Subset
from sluice_kit.applications.busy_http import Busy, busy_service, callers
from sluice_kit.applications.stock_clients import envoy_binary, envoy_by_cds, listens, started
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until

POOL = PoolKey("a", "client", "b")
CALLERS, TAKES_S = 40, 0.05
#: Without a look at speed: a window in which each caller asks several times on a machine that is not idle.
WINDOW_S = 3.0


def decide(log: Log, revision: int, action: Action.ValueType, target: int | None = None) -> None:
    now = Timestamp()
    now.GetCurrentTime()
    size = PoolSize(
        pool=message_of(POOL),
        state=STATE_PROVIDED,
        action=action,
        basis=BASIS_CURVE,
        target=target,
        revision=revision,
        computed_at=now,
    )
    log.commit(("decisions", pool_name(POOL), size), lease_s=600)


def connect(log: Log, busy: Busy) -> None:
    key = SubsetKey("a", "a-1", "b")
    end = Endpoint(instance="b-1", address=busy.address, weight=1)
    log.commit(
        ("decisions", containers_name("b"), ServiceContainers(
            service="b", containers=[Container(instance="b-1", address=busy.address)])),
        ("decisions", subset_name(key), Subset(
            key=subset_message(key), state=SUBSET_PROVIDED, revision=1, endpoints=[end])),
        lease_s=600,
    )  # fmt: skip


def written(log: Log, topic: str) -> list[bytes]:
    """All that a topic has of pools."""
    consumer = Consumer(
        {
            "bootstrap.servers": log.bootstrap,
            "group.id": "test",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(log.prefix + topic, 0, 0)])
    values = []
    while True:
        message = consumer.poll(10)
        if message is None or message.error():
            break
        if (message.key() or b"").startswith((b"pool/", b"target/")):
            values.append(message.value() or b"")
    consumer.close()
    return values


def in_force(log: Log) -> ObservedSize:
    return ObservedSize.FromString(written(log, "observed")[-1])


@pytest.mark.parametrize("kind", ["GRPC", "DELTA_GRPC"])
def test_a_full_pool_follows_its_decisions(broker: Kafka, tmp_path: Path, kind: str) -> None:
    log = Log(broker)
    binary = envoy_binary(tmp_path)
    (door,) = free_ports(1)
    with ExitStack() as up, ExitStack() as served:
        busy = up.enter_context(busy_service(TAKES_S))
        connect(log, busy)
        decide(log, 1, ACTION_HOLD)
        named = {"SLUICE_XDS_POOLS": "a/client/b"}
        (port,) = free_ports(1)
        named["SLUICE_RECOMMENDER"] = address = f"127.0.0.1:{port}"
        served.enter_context(serving_at(log, tmp_path, named))
        up.enter_context(
            started(binary, envoy_by_cds(address, "a~a-1", kind, door), door, lambda: listens(door), tmp_path)
        )
        up.enter_context(callers(busy, door, CALLERS))
        until("without a decision all are let in", lambda: busy.most(WINDOW_S) == CALLERS)
        until("and that is told", lambda: in_force(log).size.unbounded)
        for revision, size in enumerate((12, 5, 20), 2):
            decide(log, revision, ACTION_APPLY, size)
            until(f"{size} are in flight", lambda size=size: busy.most(WINDOW_S) == size)
            until(f"{size} is told", lambda size=size: in_force(log).size.size == size)
        done = [Report.FromString(value).actuation for value in written(log, "reports")]
        assert [(actuation.outcome, actuation.read_back, actuation.instance) for actuation in done] == [
            (ACTUATION_OUTCOME_APPLIED, size, "a-1") for size in (12, 5, 20)
        ]

        served.close()
        count = len(written(log, "observed"))
        served.enter_context(serving_at(log, tmp_path, named))
        until("another server tells what is in force", lambda: len(written(log, "observed")) > count)
        assert in_force(log).size.size == 20
        assert busy.most(WINDOW_S) == 20
        decide(log, 5, ACTION_APPLY, 8)
        until("8 are in flight", lambda: busy.most(WINDOW_S) == 8)
    assert busy.statuses.keys() == {"200"}
