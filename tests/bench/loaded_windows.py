"""Windows of thousands of pools in a real ClickHouse: a few drawn curves, repeated inside the engine."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from clickhouse_connect.driver.client import Client

from sluice.pools.windows.delay import LONGEST_MS
from sluice.pools.windows.latency import last_index_within
from sluice_kit.decide.humps import Samples

#: Of 100 ms, as many as are read at first: 60 s of window, and what is kept for spans that are late.
BUCKETS = (60_000 + LONGEST_MS) // 100
#: Buckets an INSERT, as parts that hold all pools for a while: what merges make of the job's own.
SHARE = BUCKETS // 10
#: Buckets an INSERT of the job's rows as they come, and how many before them it writes again, with a larger version.
SECOND, AGAIN = 10, 20
MS = 10**6

FILL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


@dataclass
class Loaded:
    """The table `windows` for pools service-00000, service-00001..., each with one instance and one caller.

    end_ms: Unix time at which the buckets end that `fill` writes.
    """

    client: Client
    drawn: list[Samples]
    pools: int
    end_ms: int
    bucket_ms: int
    threshold_ns: int
    version: int = field(default=0, init=False)
    _until: int = field(default=BUCKETS, init=False)

    def __post_init__(self) -> None:
        self.client.command("SYSTEM STOP VIEWS")  # the rollups are not what is measured
        self.client.command(
            "CREATE TABLE bench_curves (curve UInt32, at Int64, busy_ns UInt64, done UInt32, good UInt32) "
            "ENGINE = Memory"
        )
        rows = [row for i, curve in enumerate(self.drawn) for row in _curve(i, curve, self.bucket_ms)]
        self.client.insert("bench_curves", rows)

    def fill(self) -> int:
        """The `BUCKETS` before `end_ms`; the number of rows in the table."""
        for first in range(0, BUCKETS, SHARE):
            self._insert(first, first + SHARE)
        return self._rows()

    def go_on(self, seconds: int) -> int:
        """So many seconds more, an INSERT a second, as the streaming job does; the number of rows written."""
        before = self.version
        for _ in range(seconds):
            self._insert(self._until - AGAIN, self._until + SECOND)
            self._until += SECOND
        return (self.version - before) * (SECOND + AGAIN) * 2 * self.pools

    def _insert(self, begin: int, until: int) -> None:
        self.version += 1
        fast = last_index_within(self.threshold_ns)
        given = {"fast": fast, "slow": fast + 1, "from": begin, "until": until, "version": self.version}
        start_ms = self.end_ms - BUCKETS * self.bucket_ms
        more = {"curves": len(self.drawn), "pools": self.pools, "length": len(self.drawn[0].concurrency)}
        self.client.command(FILL, parameters=given | more | {"start_ms": start_ms, "bucket_ms": self.bucket_ms})

    def _rows(self) -> int:
        return int(self.client.command("SELECT count() FROM windows"))  # type: ignore[arg-type]


def _curve(index: int, samples: Samples, bucket_ms: int) -> list[tuple[int, ...]]:
    """(curve, bucket, busy_ns, completions, good), a row for each sample."""
    busy_ns = np.maximum(samples.concurrency * bucket_ms * MS, 1)
    good = np.rint(samples.goodput_per_s * bucket_ms / 1000)
    done = np.maximum(samples.completions, good)
    at = np.arange(len(busy_ns))
    columns = (np.full(len(at), index), at, busy_ns, done, good)
    return list(zip(*(column.astype(np.int64).tolist() for column in columns), strict=True))
