"""The decider's process: subsets from a real ClickHouse onto a real journal, with a latency model that a process of its
own trains, and over a kill -9."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.subsets.v1 import subset_pb2
from sluice_kit.journal.shard_log import Log
from sluice_kit.programs.decider import PATIENCE_S, Decider
from sluice_kit.servers.clickhouse import ClickHouse
from sluice_kit.servers.kafka import Broker

pytestmark = pytest.mark.integration

YAML = """
pools:
  - {service: cart, side: server, threshold: 100ms}
period: 1s
subsets:
  - {window: 1h, learn: 1h, gone: 30m, quiet: 20s, addresses: {cart: "{instance}:8080"}}
"""
OF_CONTAINERS = [
    *("service", "instance", "host", "window", "window_s", "requests", "errors"),
    *("ln_sum", "ln_sum2", "latency", "version"),
]
OF_TREES = ["root_service", "root_operation", "window", "window_s", "tree", "traces", "version"]
TREE = '{"service":"front","operation":"GET /","stages":[[{"service":"cart"}]]}'
COUNTS = {"front": 3, "cart": 5}
Subsets = dict[str, subset_pb2.Subset]


def insert(database: ClickHouse, *, gone: str = "") -> None:
    """Ten minutes up to now, of front's and cart's containers but the one that is gone."""
    client, now = database.client("sluice"), datetime.now(UTC)
    now = now.replace(second=now.second // 10 * 10, microsecond=0)
    for nth in range(60):
        window = now - timedelta(seconds=10 * nth)
        rows: list[list[Any]] = []
        for service, count in COUNTS.items():
            for number in range(count):
                ln, requests = math.log((5 + number) * 1e6), 50 + number
                moments = [round(1e9 * requests * ln), round(1e9 * requests * (ln * ln + 0.1))]
                instance = f"{service}-{number}"
                if instance != gone:
                    rows.append([service, instance, f"h{number}", window, 10, requests, 0, *moments, {}, requests])
        for table in ("container_latency", "container_own_time"):
            client.insert(table, rows, column_names=OF_CONTAINERS)
        client.insert("call_trees", [["front", "GET /", window, 10, TREE, 150, 150]], column_names=OF_TREES)


def committed(log: Log) -> Subsets:
    names = topics(log.prefix)
    broker = KafkaBroker(log.bootstrap, names, "test")
    reader, end = broker.reader(0, {names.decisions: 0}), broker.end(names.decisions, 0)
    found: Subsets = {}
    while reader.position(names.decisions) < end:
        for record in reader.read(0.2):
            if record.key.startswith("subset/") and record.value is not None:
                found[record.key] = subset_pb2.Subset.FromString(record.value)
    reader.close()
    broker.close()
    return found


def eventually(log: Log, wanted: Callable[[Subsets], bool]) -> Subsets:
    deadline = time.monotonic() + PATIENCE_S
    while not wanted(found := committed(log)):
        assert time.monotonic() < deadline, found
        time.sleep(0.5)
    return found


@pytest.mark.timeout(3 * PATIENCE_S)
def test_subsets_are_learnt_and_written_and_outlive_a_kill(
    tmp_path: Path, database: ClickHouse, broker: Broker
) -> None:
    log = Log(broker)
    broker.topic(f"{log.prefix}state", like="sluice_state")
    insert(database)
    decider = Decider(tmp_path, database.url, log.bootstrap, log.prefix, YAML)
    learnt = {subset_pb2.STATE_PROVIDED}
    with decider.running() as process:
        first = eventually(log, lambda all_of: {subset.state for subset in all_of.values()} == learnt)
        assert set(first) == {f"subset/front/front-{number}/cart" for number in range(3)}
        assert {end.address for subset in first.values() for end in subset.endpoints} <= {
            f"cart-{number}:8080" for number in range(5)
        }
        process.send_signal(signal.SIGKILL)
        process.wait()
    database.client("sluice").command("TRUNCATE TABLE container_latency")
    insert(database, gone="cart-4")
    with decider.running():
        then = eventually(
            log, lambda all_of: all(end.instance != "cart-4" for subset in all_of.values() for end in subset.endpoints)
        )
    assert then.keys() == first.keys()
    for key, subset in then.items():
        had = any(end.instance == "cart-4" for end in first[key].endpoints)
        assert subset.revision > first[key].revision if had else subset.revision >= first[key].revision
