"""The delay of each pool's data, measured on the data: a bucket is complete once the part that it still lacks is
negligible.

Busy time in a reading is late by the distance of its bucket behind the pool's newest bucket *before* the reading: a
user of the bucket at that time would have missed it. The delay (`settle`) of a pool is the smallest age behind its
newest bucket such that at most 1 % of its busy time came later than that. The measure compares only starts of buckets,
so neither clocks nor a pipeline with a constant lag matter.

Worked: the newest bucket was 60.0 s. A reading has 980 ms for 60.1 to 60.9 s (late by 0), 12 ms for 59.5 s and 8 ms for
58.0 s: 2 % came later than 0, 0.8 % later than 0.5 s. The delay is 0.5 s, and buckets before 60.4 s are complete.

**Batches**: an SDK sends the spans of 5 s at once (OTEL_BSP_SCHEDULE_DELAY), in requests of 512 at most
(OTEL_BSP_MAX_EXPORT_BATCH_SIZE), and a reading may fall between these, or between two writes. Where a reading has new
buckets of a pool over much more than the time since the last reading, they wait for a reading a second later.

Worked: of 28 completions a second, 6 were there in each of the 5 s up to the newest bucket, and the others 300 ms
later. A change from 2 connections to 8 was taken back, as if completions had collapsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.pools.windows.rows import Ints

NEVER = -1

# The least delay of a pool with too little evidence.
START_MS = 1_000
# So much time of data is enough evidence.
ENOUGH_MS = 10_000
# Evidence is kept in parts of this length, the growing one and the one before. Data that was late once, as when a job
# starts on a backlog, is forgotten after 20 s. (Faded by 1/e in 45 s, it still was 1 % of all after three minutes.)
PART_MS = 10_000
# Share of the busy time that may be missed.
NEGLIGIBLE = 0.01
# Delays are distinguished up to the longest, at least at this resolution; a later arrival counts as the longest.
LONGEST_MS, FINEST_MS = 20_000, 100
# A reading counts for no more than this multiple of the usual amount in its time: a larger one means that a part of the
# pipeline was away.
MOST_USUAL = 2.0
# Rows are written about this often, and read whenever a period begins.
INSERT_MS = 1_000
# New buckets over more than this multiple of the time between two readings are a batch. It is held for nearly a second:
# a reading begins each second, give or take some.
BATCH, HELD_MS = 1.5, 900
# A gap in a pool's data counts as no more evidence than this.
GAP_MS = 5_000
# The pipeline catches up while its lag falls by this much within this time. Most exporters send every 5 s.
FALL_MS, HOLD_MS = 8_000, 5_000


@dataclass(frozen=True)
class Arrivals:
    """The new data of n pools' own rows in a reading, in r increments.

    pool, start_ms, busy_ns  shape (r,): number of the pool, start of the bucket, busy time that is new (>= 0);
                             none of a pool without earlier data
    newest_ms  shape (n,): start of each pool's newest bucket with data, -1 without any
    anew       there was no earlier data at all
    """

    pool: Ints
    start_ms: Ints
    busy_ns: Ints
    newest_ms: Ints
    anew: bool = False


class Lag(NamedTuple):
    """The lag of the pipeline: time of the reading, and the newest bucket of any pool then."""

    read_ms: int
    newest_ms: int

    @property
    def ms(self) -> int:
        return self.read_ms - self.newest_ms


class Delay:
    """The delays of n pools, over the newest 10 to 20 s of their data.

    A pipeline that stood still sends its backlog fast, and in any order: one instance after the other. While it catches
    up, and for `HOLD_MS` after, nothing is learnt, and buckets that are incomplete by then stay so.
    """

    def __init__(self, pools: int, bucket_ms: int) -> None:
        self._bin_ms = bucket_ms * -(-FINEST_MS // bucket_ms)
        shape = (pools, LONGEST_MS // self._bin_ms + 1)
        self._busy_ns, self._before_ns = (
            np.zeros(shape),
            np.zeros(shape),
        )  # by lateness: bin i has busy time up to i bins late
        self._part_ms, self._evidence_ms = np.zeros(pools), np.zeros(pools)
        self._newest_ms: Ints = np.full(pools, NEVER)
        self._used_ms: Ints = self._newest_ms
        # When the newest bucket came with a batch, NEVER if it did not; and whether the batch is held.
        self._batch_ms: Ints = self._newest_ms
        self._held = np.zeros(pools, dtype=bool)
        self._read_ms: int | None = None
        self._lags: list[Lag] = []
        self.settle_ms: Ints = self._settle()

    def grow(self, pools: int) -> None:
        """Adds pools behind the present ones, up to this number."""
        more = Delay(pools - len(self.settle_ms), self._bin_ms)
        if not len(more.settle_ms):
            return
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(self, name, np.concatenate([values, getattr(more, name)]))

    def take(self, arrivals: Arrivals, now_ms: int, live: bool = True) -> None:
        """Learns from a reading at `now_ms`; only differences of this time count.

        live: False for a reading of the past. Its data was there already and gives no evidence; nor does the next
        reading, which has the data since that past.
        """
        last_ms, self._newest_ms = self._newest_ms, arrivals.newest_ms
        read_ms, self._read_ms = self._read_ms, now_ms if live else None
        self._lags = self._with_lag(arrivals, now_ms) if live else []
        falls = bool(self._lags) and max(lag.ms for lag in self._lags) - self._lags[-1].ms > FALL_MS
        if live and read_ms is not None and not falls and len(arrivals.pool):
            self._learn(arrivals, last_ms, now_ms - read_ms)
            self.settle_ms = self._settle()
        self._hold(arrivals, last_ms, now_ms, now_ms - read_ms if live and read_ms is not None else None)
        self._used_ms = np.where(falls | self._held, np.minimum(self._used_ms, self._newest_ms), self._newest_ms)

    def complete_before(self, now_ms: int) -> Ints:
        """Buckets of each pool that start before this are complete, shape (n,); `NEVER` where it has none."""
        before_ms = np.minimum(self._used_ms, now_ms) - self.settle_ms
        return np.where(self._used_ms == NEVER, NEVER, before_ms)

    def _hold(self, arrivals: Arrivals, last_ms: Ints, now_ms: int, elapsed_ms: int | None) -> None:
        """elapsed_ms: since the last reading; None where that says nothing. Traffic that begins again is no batch."""
        if elapsed_ms is None:
            self._batch_ms = np.full_like(self._batch_ms, NEVER)
        else:
            new = arrivals.start_ms > last_ms[arrivals.pool]
            first_ms = self._newest_ms.copy()
            np.minimum.at(first_ms, arrivals.pool[new], arrivals.start_ms[new])
            batch = (last_ms != NEVER) & (self._newest_ms - first_ms > BATCH * max(elapsed_ms, INSERT_MS))
            self._batch_ms = np.where(batch, now_ms, self._batch_ms)
        since_ms = now_ms - self._batch_ms
        # A clock that was set back would hold it for as long.
        self._held = (self._batch_ms != NEVER) & (since_ms >= 0) & (since_ms < HELD_MS)

    def _with_lag(self, arrivals: Arrivals, now_ms: int) -> list[Lag]:
        """The pipeline's lags within the last `HOLD_MS`, of the last reading, and of this one."""
        with_data = self._newest_ms[self._newest_ms != NEVER]
        if len(with_data) == 0:
            return []
        # A service whose clock is ahead always has recent data, even while nothing arrives.
        ahead = with_data >= now_ms - self._bin_ms
        newest = int((with_data[~ahead] if 2 * ahead.sum() < len(with_data) else with_data).max())
        lags = self._lags
        if lags:
            new = arrivals.start_ms[arrivals.start_ms > lags[-1].newest_ms]
            if len(new) and new.min() - lags[-1].newest_ms > FALL_MS:
                lags = []  # nothing was in flight meanwhile, since there is no data of it
        recent = [lag for lag in lags if lag.read_ms > now_ms - HOLD_MS] or lags[-1:]
        return [*recent, Lag(now_ms, newest)]

    def _learn(self, arrivals: Arrivals, last_ms: Ints, elapsed_ms: int) -> None:
        known = last_ms[arrivals.pool] != NEVER
        pool, busy_ns = arrivals.pool[known], arrivals.busy_ns[known].astype(np.float64)
        # What comes of a batch that is held is not late: nobody used it.
        border_ms = np.where(self._held, self._used_ms, last_ms)
        late_ms = np.maximum(0, border_ms[pool] - arrivals.start_ms[known])
        pools, bins = self._busy_ns.shape
        late = np.minimum(-(-late_ms // self._bin_ms), bins - 1)

        brought_ns = np.bincount(pool, busy_ns, pools).astype(np.float64, copy=False)
        advance_ms = np.clip(self._newest_ms - last_ms, 0, max(elapsed_ms, GAP_MS))
        advance_ms[brought_ns == 0] = 0
        share = self._share(brought_ns, np.maximum(advance_ms, max(elapsed_ms, INSERT_MS)))
        self._busy_ns += np.bincount(pool * bins + late, busy_ns * share[pool], pools * bins).reshape(pools, bins)
        self._part_ms += advance_ms
        self._evidence_ms = np.minimum(self._evidence_ms + advance_ms, ENOUGH_MS)
        done = self._part_ms >= PART_MS
        self._before_ns[done] = self._busy_ns[done]
        self._busy_ns[done] = 0
        self._part_ms[done] = 0

    def _share(self, brought_ns: NDArray[np.float64], time_ms: Ints) -> NDArray[np.float64]:
        """The part of a reading's data that counts, shape (n,)."""
        enough = self._evidence_ms >= ENOUGH_MS
        known_ms = self._part_ms + np.where(self._evidence_ms >= PART_MS, PART_MS, 0)
        usual = (self._busy_ns + self._before_ns).sum(axis=1) / np.maximum(known_ms, 1) * time_ms
        too_much = enough & (brought_ns > MOST_USUAL * usual)
        return np.where(too_much, MOST_USUAL * usual / np.maximum(brought_ns, 1), 1.0)

    def _settle(self) -> Ints:
        sums = np.cumsum(self._busy_ns + self._before_ns, axis=1)
        # The smallest bin up to which all but a negligible part came.
        settle_ms = (sums < (1 - NEGLIGIBLE) * sums[:, -1:]).sum(axis=1) * self._bin_ms
        settle: Ints = np.where(self._evidence_ms >= ENOUGH_MS, settle_ms, np.maximum(settle_ms, START_MS))
        return settle
