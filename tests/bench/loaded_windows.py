"""Windows of thousands of pools in a real ClickHouse: a few drawn curves, repeated inside the engine."""

from pathlib import Path

import numpy as np
from clickhouse_connect.driver.client import Client

from humps import Samples
from sluice.collect.latency import last_index_within

#: Of 72 s, which is what a period reads: 60 s of window, 2 s of settling, 10 s for spans that are late.
BUCKETS = 720
#: Pools an INSERT: as many parts, unless the engine merges them.
SHARE = 1_000
MS = 10**6

FILL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


def load(client: Client, drawn: list[Samples], pools: int, now_ms: int, bucket_ms: int, threshold_ns: int) -> int:
    """Fills `windows` up to `now_ms` for pools service-00000, service-00001...; the number of rows."""
    client.command("SYSTEM STOP VIEWS")  # the rollups are not what is measured
    client.command(
        "CREATE TABLE bench_curves (curve UInt32, at Int64, busy_ns UInt64, done UInt32, good UInt32) ENGINE = Memory"
    )
    client.insert("bench_curves", [row for i, one in enumerate(drawn) for row in _curve(i, one, bucket_ms)])
    fast = last_index_within(threshold_ns)
    given = {"fast": fast, "slow": fast + 1, "now_ms": now_ms, "buckets": BUCKETS, "bucket_ms": bucket_ms}
    for first in range(0, pools, SHARE):
        share = {"curves": len(drawn), "first": first, "share": min(SHARE, pools - first)}
        client.command(FILL, parameters=given | share)
    return int(client.command("SELECT count() FROM windows"))  # type: ignore[arg-type]


def _curve(index: int, samples: Samples, bucket_ms: int) -> list[tuple[int, ...]]:
    """(curve, bucket, busy_ns, completions, good); after the last sample the first ones come again."""
    at = np.arange(BUCKETS) % len(samples.concurrency)
    busy_ns = np.maximum(samples.concurrency[at] * bucket_ms * MS, 1)
    good = np.rint(samples.goodput_per_s[at] * bucket_ms / 1000)
    done = np.maximum(samples.completions[at], good)
    columns = (np.full(BUCKETS, index), np.arange(BUCKETS), busy_ns, done, good)
    return list(zip(*(column.astype(np.int64).tolist() for column in columns), strict=True))
