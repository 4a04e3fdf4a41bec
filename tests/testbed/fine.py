"""The fine windows of every adjustable pool while a run goes on, without keeping its spans."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .adjustable import AdjustablePool
from .columns import Counts, Ints, SpanColumns
from .judge import judges, owns
from .spans import Span


@dataclass(frozen=True, slots=True)
class PoolWindows:
    """One pool over the last seconds: n buckets, the oldest first, and how the pool stands now."""

    since_ns: int
    """Start of the first bucket, a multiple of the length."""
    length_ns: int
    threshold_ns: int
    own: Counts
    """Of the pool's own spans: their ``busy_ns`` is its concurrency."""
    judge: Counts
    """Of the spans that judge it (``judge.judges``): their ``good`` is its goodput."""
    own_durations_ns: Ints
    """Response times of the completions in these buckets, in the order of their ends; without the wait for the pool."""
    judge_durations_ns: Ints
    """With the wait."""
    sizes: Ints
    """The pool's size where each bucket starts, shape (n,)."""
    size: int
    in_use: int
    queued: int
    count: int
    """Pools of this size that the counts sum over."""
    cores: float
    """CPU limit of each replica of the service whose work the pool bounds."""
    replicas: int
    """Of that service."""
    core_seconds: float
    """CPU time that it has used since the start of the run, over all replicas."""
    waiting_ns: Ints | None = None
    """Of the pool's own spans: how much of their ``busy_ns`` they wait for what they call; None where nobody says."""


class FineWindows:
    """Feed it the spans; ask at any time, with any bucket length and threshold::

    fine = FineWindows()
    simulation = Simulation(scenario, seed, fine.add)
    fine.watch(simulation.pools.values())
    """

    def __init__(self) -> None:
        self._pools: list[AdjustablePool] = []
        self._own: dict[str, SpanColumns] = {}
        self._judge: dict[str, SpanColumns] = {}
        self._of_site: dict[int, list[SpanColumns]] = {}
        self._sites: list[object] = []

    def watch(self, pools: Iterable[AdjustablePool]) -> None:
        """Spans that come from now on count for these pools too."""
        for pool in pools:
            if pool.name not in self._own:
                self._pools.append(pool)
                self._own[pool.name] = SpanColumns()
                self._judge[pool.name] = SpanColumns()
        self._of_site.clear()

    def add(self, span: Span) -> None:
        columns = self._of_site.get(id(span.site))
        if columns is None:
            columns = self._columns(span)
        for column in columns:
            column.add(span)

    def last(
        self, pool: AdjustablePool, now_s: float, seconds: float, bucket_ms: int, threshold_ms: float
    ) -> PoolWindows:
        """The whole buckets of the last ``seconds`` before ``now_s``; fewer at the start of a run.

        Raises:
            ValueError: a bucket is not 10 to 1,000 ms, or the threshold is not > 0.
        """
        if not 10 <= bucket_ms <= 1000:
            raise ValueError(f"bucket_ms must be an integer from 10 to 1000, got {bucket_ms}")
        if not 0 < threshold_ms < float("inf"):
            raise ValueError(f"threshold_ms must be > 0 and finite, got {threshold_ms}")
        length, threshold = bucket_ms * 1_000_000, round(threshold_ms * 1e6)
        after = int(round(now_s * 1e9) // length)
        buckets = min(after, round(seconds * 1000) // bucket_ms)
        since, until = (after - buckets) * length, after * length
        own, judge = self._own[pool.name], self._judge[pool.name]
        bounded = pool.bounded
        return PoolWindows(
            since_ns=since,
            length_ns=length,
            threshold_ns=threshold,
            own=own.counts(since, buckets, length, threshold),
            judge=judge.counts(since, buckets, length, threshold),
            own_durations_ns=own.durations_ns(since, until),
            judge_durations_ns=judge.durations_ns(since, until),
            sizes=_sizes(pool, since, buckets, length),
            size=pool.size,
            in_use=pool.in_use,
            queued=pool.queued,
            count=pool.count,
            cores=bounded.cores,
            replicas=len(bounded.instances),
            core_seconds=bounded.core_seconds(),
        )

    def _columns(self, span: Span) -> list[SpanColumns]:
        site = span.site
        columns = [self._own[pool.name] for pool in self._pools if owns(pool, site)]
        columns += [self._judge[pool.name] for pool in self._pools if judges(pool, site)]
        self._sites.append(site)  # alive as long as its id is a key
        self._of_site[id(site)] = columns
        return columns


def _sizes(pool: AdjustablePool, since_ns: int, buckets: int, length_ns: int) -> Ints:
    starts = (since_ns + np.arange(buckets) * length_ns) / 1e9
    times, sizes = zip(*pool.history, strict=True)
    return np.array(sizes, dtype=np.int64)[np.searchsorted(times, starts, side="right") - 1]
