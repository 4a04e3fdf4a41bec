"""What the decider's metrics show of the pipeline, of tuning trials and of subsets."""

import math
import time

import pytest
from prometheus_client import CollectorRegistry

from sluice.clickhouse.connection import connection
from sluice.decider.pipeline import KINDS, PipelineMetrics
from sluice.model.problems import Problems
from sluice.subsets.product import SubsetsProduct, SubsetsShard
from sluice.subsets.records import KnownSubsets
from sluice.subsets.v1 import subset_pb2
from sluice.tuning.product import TuningProduct
from sluice_kit.decide.subset_worlds import SubsetWorld
from sluice_kit.decide.tuning_worlds import TuningWorld, plan
from sluice_kit.servers.clickhouse import ClickHouse

COUNTS = """
INSERT INTO ingest_counts (job, outcome, service, received, messages, spans, emit_lag_ms, version) VALUES
    ('concurrency', 'accepted', 'cart', now(), 0, 100, 0, 1),
    ('concurrency', 'accepted_more', 'cart', now(), 0, 7, 0, 1),
    ('concurrency', 'bad_id', 'cart', now(), 0, 3, 0, 1), ('concurrency', 'malformed_message', '', now(), 2, 0, 0, 1),
    ('call_graph', 'bad_id', 'cart', now(), 0, 4, 0, 1), ('call_graph', 'duplicate_span', 'cart', now(), 0, 50, 0, 1),
    ('concurrency', 'bad_id', 'cart', now() - 700, 0, 900, 0, 1)
"""
ROWS = """
INSERT INTO rejected_rows (store, table, reason, key, rows, at) VALUES
    ('clickhouse', 'windows', 'refused', 'a', 1, now64(3)), ('neo4j', 'Service', 'column_missing', 'b', 5, now64(3)),
    ('neo4j', 'Service', 'refused', 'c', 9, now64(3) - 700)
"""
GAPS = """
INSERT INTO offset_gaps (flink_job, topic, partition, first_missing, first_read, received, version) VALUES
    ('sluice', 'otlp_spans', 0, 10, 31, now64(3), 1)
"""


class Away:
    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[object]]:
        raise ConnectionError("refused")


@pytest.mark.integration
def test_losses_of_ten_minutes_and_the_newest_window(database: ClickHouse) -> None:
    registry, failures = CollectorRegistry(), list[str]()
    metrics = PipelineMetrics(connection({"SLUICE_CLICKHOUSE": database.url}, lambda: None), registry, failures.append)
    metrics.read()
    assert math.isnan(registry.get_sample_value("sluice_decider_newest_window_age_seconds") or 0.0)
    client = database.client("sluice")
    for statement in (COUNTS, ROWS, GAPS):
        client.command(statement)
    names = ["service", "side", "peer", "instance", "bucket", "bucket_ms", "version"]
    client.insert("windows", [["cart", "server", "", "a", round(1000 * (time.time() - 5)), 100, 1]], column_names=names)
    metrics.read()
    lost = {kind: registry.get_sample_value("sluice_decider_recent_losses", {"kind": kind}) for kind in KINDS}
    # Dead letters: 3 spans and 2 messages of one job, 4 spans of another.
    assert lost == {"dead_letter": 5, "too_many_names": 7, "rejected_row": 6, "skipped_record": 21}
    assert 4.9 < (registry.get_sample_value("sluice_decider_newest_window_age_seconds") or 0.0) < 300
    assert not failures


def test_without_clickhouse_no_window_is_new() -> None:
    registry, failures = CollectorRegistry(), list[str]()
    PipelineMetrics(Away(), registry, failures.append).read()
    assert registry.get_sample_value("sluice_decider_newest_window_age_seconds") == math.inf
    assert failures == ["pipeline tables"]


def test_a_trial_is_overdue_while_its_session_is_open() -> None:
    world, overdue_s = TuningWorld(), list[float]()
    world.create(plan())
    product = TuningProduct(None, Problems(), overdue_s.append)
    # The world's clock began in the past, so the trial was due then.
    for change in (lambda: None, world.ask, world.stop):
        change()
        product.measure([world.loop.owned[0].parts["tuning"]])
    due_s = world.sessions["first"].trials[0].due_ms / 1e3
    assert overdue_s == [0.0, pytest.approx(time.time() - due_s, abs=300), 0.0]


def test_subsets_without_endpoints_are_counted() -> None:
    world, empty = SubsetWorld(), list[int]()
    world.step()
    product = SubsetsProduct(None, lambda parts: None, Problems(), empty=empty.append)  # type: ignore[arg-type]
    shard = world.loop.owned[0].parts["subsets"]
    product.measure([shard])
    first, second, *rest = shard.known.subsets.items()
    gone = {
        first[0]: subset_pb2.Subset(state=subset_pb2.STATE_HELD),
        second[0]: subset_pb2.Subset(state=subset_pb2.STATE_DELETED),
    }
    known = KnownSubsets({**gone, **dict(rest)})
    product.measure([SubsetsShard([], known, shard._notifications, None, Problems())])
    assert empty == [0, 1]
