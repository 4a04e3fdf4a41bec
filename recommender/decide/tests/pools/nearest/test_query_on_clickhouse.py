"""PoolInSpans pools, by the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.model.keys import PoolKey
from sluice.pools.nearest.query import PoolInSpans, pools_in_spans
from sluice_kit.servers.rows import now

pytestmark = pytest.mark.integration

COLUMNS = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"]
COLUMNS += ["max_busy_ns", "completions", "errors", "latency", "version", "seen"]


def test_the_newest_ten_minutes_of_all_or_some_services(database: Any) -> None:
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 60 * 60

    def row(service: str, peer: str, instance: str, age_s: int, done: int) -> list[object]:
        start, side = datetime.fromtimestamp(now_s - age_s, UTC), "client" if peer else "server"
        return [side, service, peer, instance, start, 100, done * 10**6, 1, 1, 1, done, 0, {}, 1, start]

    rows = [
        row("nearest-a", "", "a-2", 60, 5),
        row("nearest-a", "", "a-1", 120, 4),
        row("nearest-a", "db", "a-1", 60, 20),
        row("nearest-a", "10.0.0.7", "a-1", 60, 0),  # it moved to the name that traces show
        row("nearest-a", "old", "a-1", 720, 7),
        row("nearest-b", "", "b-1", 60, 1),
    ]
    client.insert("windows_1m", rows, column_names=COLUMNS)
    of_a = [
        PoolInSpans(PoolKey("nearest-a", "client", "db"), 20, ("a-1",)),
        PoolInSpans(PoolKey("nearest-a", "server", ""), 9, ("a-1", "a-2")),
    ]
    reader = ClickHouse(database.url, READER)
    assert pools_in_spans(reader, ["nearest-a", "nearest-a"], 1_000 * now_s) == of_a
    every = pools_in_spans(reader, (), 1_000 * now_s)
    assert [one for one in every if one.key.service.startswith("nearest-")] == [
        *of_a,
        PoolInSpans(PoolKey("nearest-b", "server", ""), 1, ("b-1",)),
    ]
