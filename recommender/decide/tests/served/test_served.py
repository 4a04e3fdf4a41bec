"""What Python writes into the journal, the Go server gives out: by the real command, broker and database."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from confluent_kafka import Consumer, TopicPartition
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.common.v1.scaling_pb2 import ScalingEvent
from sluice.model.keys import PoolKey
from sluice.pools.publication.record import Ref
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.actuation_pb2 import ACTUATION_OUTCOME_APPLIED, Actuation
from sluice.pools.v1.advice_pb2 import Advice
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import ObservedSize, Report
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, STATE_STALE, PoolSize
from sluice_kit.journal.shard_log import Log, recording, serving
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

pytestmark = pytest.mark.integration
CART = Pool(service="cart", side=SIDE_SERVER)
ODD = Pool(service="a/b c+d~é", side=SIDE_CLIENT, peer="d%b")
CART_KEY = "pool/cart/server/"


@pytest.fixture
def log(broker: Broker) -> Log:
    return Log(broker)


def key_of(pool: Pool) -> str:
    """As Python names records of the topic of states, under another first word."""
    side = "server" if pool.side == SIDE_SERVER else "client"
    return str(Ref("facts", PoolKey(pool.service, side, pool.peer))).replace("facts/", "pool/", 1)


def answer(pool: Pool, revision: int, target: int) -> PoolSize:
    return PoolSize(pool=pool, state=STATE_PROVIDED, action=ACTION_APPLY, target=target, revision=revision)


def test_a_decision_explanation_and_report_cross_the_log(log: Log, tmp_path: Path) -> None:
    log.commit(
        ("decisions", key_of(CART), answer(CART, 1, 8)),
        ("decisions", key_of(ODD), answer(ODD, 4, 9)),
        ("explanations", key_of(CART), Explanation(completions=7)),
    )
    with serving(log, tmp_path, {}) as one, serving(log, tmp_path, {}) as two:
        got = one.GetPoolSize(api.GetPoolSizeRequest(pool=ODD)).pool_size
        assert (got.target, got.revision, got.state) == (9, 4, STATE_PROVIDED)
        assert one.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation.completions == 7

        watch = one.WatchPoolSizes(api.WatchPoolSizesRequest(), timeout=60)
        first = [next(watch) for _ in range(4)]
        assert [each.WhichOneof("event") for each in first] == ["pool_size", "pool_size", "snapshot", "heartbeat"]
        log.commit(("decisions", CART_KEY, answer(CART, 2, 10)))
        resumed = two.WatchPoolSizes(api.WatchPoolSizesRequest(resume_token=first[-1].resume_token), timeout=60)
        event = next(each for each in resumed if each.HasField("pool_size"))
        assert (event.pool_size.revision, event.pool_size.target) == (2, 10)

        done = Actuation(
            pool=CART, target_name="t", actuator="a", outcome=ACTUATION_OUTCOME_APPLIED, read_back=10, revision=2
        )
        two.ReportActuation(api.ReportActuationRequest(actuation=done, request_id="mine"))
    (report,) = records(log, "reports")
    assert Report.FromString(report[1]).request_id == "mine"
    (observed,) = records(log, "observed")
    assert observed[0] == "target/cart/server//t"
    assert ObservedSize.FromString(observed[1]).size.size == 10


def test_an_explanation_comes_within_50_ms_of_the_log(log: Log, tmp_path: Path) -> None:
    """The median of 20 calls of 16 kB, with room for a slow machine: it never reads the topic."""
    large = Explanation(threshold={"detail": "x" * 16_000})
    for _ in range(30):
        log.commit(("decisions", CART_KEY, answer(CART, 1, 8)), ("explanations", CART_KEY, large))
    with serving(log, tmp_path, {}) as stub:
        took = []
        for _ in range(20):
            began = time.monotonic()
            assert (
                len(stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART)).explanation.threshold.detail) == 16_000
            )
            took.append(time.monotonic() - began)
    print(f"explain: median {1e3 * sorted(took)[10]:.1f} ms, longest {1e3 * max(took):.1f} ms")


def test_a_lease_that_is_over_is_stale(log: Log, tmp_path: Path) -> None:
    log.commit(("decisions", CART_KEY, answer(CART, 3, 8)), lease_s=1)
    with serving(log, tmp_path, {}) as stub:
        until("it is stale", lambda: stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART)).pool_size.state == STATE_STALE)
        assert stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART)).pool_size.revision == 3


def test_history_comes_from_the_database(log: Log, database: ClickHouse, tmp_path: Path) -> None:
    columns = ["service", "side", "peer", "at", "state", "target", "confidence", "threshold_ms", "model", "reasons"]
    columns += ["buckets", "valid_until", "revision", "basis", "action"]
    now = datetime.now(UTC)
    at = [now - timedelta(seconds=10 - n) for n in range(10)]
    rows = [
        ["cart", "server", "", at[n], "PROVIDED", 10 + n, 0.5, 100.0, "belief", ["BETTER"], 1, now, n, "CURVE", "APPLY"]
        for n in range(1, 6)
    ]
    database.client("sluice").insert("recommendations", rows, column_names=columns)
    log.commit()
    with serving(log, tmp_path, {"SLUICE_CLICKHOUSE": database.url}) as stub:
        request = api.ListPoolSizeHistoryRequest(pool=CART, page_size=3)
        one = stub.ListPoolSizeHistory(request)
        assert [(each.pool_size.revision, each.pool_size.target) for each in one.answers] == [(5, 15), (4, 14), (3, 13)]
        request.page_token = one.next_page_token
        two = stub.ListPoolSizeHistory(request)
        assert [each.pool_size.revision for each in two.answers] == [2, 1]
        assert not two.next_page_token
        assert two.answers[0].pool_size.reasons[0].code == "BETTER"
    with (
        serving(log, tmp_path, {"SLUICE_CLICKHOUSE": "http://127.0.0.1:1"}) as stub,
        pytest.raises(grpc.RpcError) as away,
    ):
        stub.ListPoolSizeHistory(request)
    assert away.value.code() == grpc.StatusCode.UNAVAILABLE  # type: ignore[attr-defined]


def test_decisions_and_reports_are_recorded_once(log: Log, database: ClickHouse, tmp_path: Path) -> None:
    at = Timestamp(seconds=int(time.time()))
    decided = answer(CART, 1, 8)
    decided.computed_at.CopyFrom(at)
    decided.threshold.FromMilliseconds(250)
    decided.reasons.add(code="BETTER")
    decided.advice.CopyFrom(Advice(kind=Advice.KIND_SCALE_OUT, asked_per_s=450, best_per_s=364, advised_replicas=4))
    log.commit(("decisions", CART_KEY, decided))
    done = Actuation(
        pool=CART, target_name="t", actuator="a", outcome=ACTUATION_OUTCOME_APPLIED, read_back=8, revision=1, at=at
    )
    timeless = Actuation(pool=CART, target_name="t", actuator="a", outcome=done.outcome, read_back=8, revision=2)
    with serving(log, tmp_path, {}) as stub:
        for _ in range(2):  # told again: the answer was lost
            stub.ReportActuation(api.ReportActuationRequest(actuation=done))
            stub.ReportActuation(api.ReportActuationRequest(actuation=timeless, request_id="mine"))
        stub.PausePool(api.PausePoolRequest(pool=CART, by="ann", why="a sale"))
        scaled = ScalingEvent(service="cart", source="hpa", cpu_limit_cores=2.5, at=at)
        stub.NotifyScaling(api.NotifyScalingRequest(scaling_event=scaled))
    with recording(log, database, tmp_path):
        until("all is recorded", lambda: len(rows(database, "SELECT 1 FROM scaling_events")) == 1)
        paused = "SELECT paused, by, why FROM pool_pauses"
        until("the pause is", lambda: rows(database, paused) == [(True, "ann", "a sale")])
        query = "SELECT revision, state, basis, action, target, threshold_ms, reasons FROM recommendations FINAL"
        until("the decision is", lambda: len(rows(database, query)) == 1)
        assert rows(database, query) == [(1, "PROVIDED", "UNSPECIFIED", "APPLY", 8, 250.0, ["BETTER"])]
        advised = "SELECT advice, advised_replicas, advised_cores, asked_per_s, in_time, best_per_s FROM v_pool_now"
        assert rows(database, advised) == [("SCALE_OUT", 4, None, 450.0, None, 364.0)]
        reported = "SELECT revision, outcome, read_back, instance FROM actuations FINAL ORDER BY revision"
        once = [(1, "APPLIED", 8, "t"), (2, "APPLIED", 8, "t")]
        until("the reports are, each once", lambda: rows(database, reported) == once)
        timed = "SELECT any(toUnixTimestamp(at)) FROM actuations WHERE revision = 1"
        assert rows(database, timed) == [(at.seconds,)]
        assert rows(database, "SELECT cpu_limit_cores, replicas FROM scaling_events") == [(2.5, None)]


def rows(database: ClickHouse, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in database.client("sluice").query(query).result_rows]


def records(log: Log, topic: str) -> list[tuple[str, bytes]]:
    """Keys and values of shard 0, to its end."""
    consumer = Consumer({"bootstrap.servers": log.bootstrap, "group.id": "test", "enable.partition.eof": True})
    consumer.assign([TopicPartition(log.prefix + topic, 0, 0)])
    found = []
    try:
        while (message := consumer.poll(30)) is not None and message.error() is None:
            found.append(((message.key() or b"").decode(), message.value() or b""))
    finally:
        consumer.close()
    return found
