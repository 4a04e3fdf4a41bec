"""The evidence of a pool: seconds, summed by CPU limit and size, and slowly forgotten.

The newest three minutes are the evidence of a size in force. A saturated size that was in force before keeps its value
with growing uncertainty, since a service drifts. So a size that had a look gets no other one for long; under a steady
load looks end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, log, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief_levels import (
    COMPLETIONS,
    IN_FLIGHT_S,
    SECONDS,
    STEP,
    completions_at,
    ever_full,
    full_s,
    has_all,
    level_rows,
    longest_stay_s,
    seconds_on,
    weight,
    with_seconds,
)
from sluice.fast.belief_levels import FULL as FULL_COLUMN
from sluice.fast.belief_seconds import SecondKind, parts
from sluice.pools.estimate.belief.family import Floats, Ints

Numbers = list[float] | Floats
"""Shape (n,). A list of the ten buckets of a second is summed in less time than an array."""

# Shares of full buckets: from SATURATED on a second shows nothing but the full pool, from FULL on one that is nearly
# full, and up to PARTIAL one that is not full.
SATURATED, FULL, PARTIAL = 0.95, 0.7, 0.4
# A second with this many times the size, and the least concurrency, in flight drains.
DRAINS = 1.15
# More in flight than the size by this factor, over a second: spans count requests outside the pool.
OVER = 1.15
# Requests that have not ended yet may raise the concurrency by this factor; beyond it, a second says nothing.
MOST_MISSING = 1.3
# A second says nothing when its concurrency grows by this part of its completions, and by half.
FILLS, GROWS = 0.25, 1.5
# It says nothing when it was full for a part, and one third of it had so many times less in flight than another.
MIXES = 2.0
# After u mean durations, 1 - exp(-u) of the requests in flight have ended. The tables invert this by the seen
# concurrency as a part of the completions since, from ENDED on.
ENDED = 0.3
_U = np.linspace(4.0, 0.02, 200)
ENDED_SHARE, ENDED_BY = -np.expm1(-_U) / _U, -1 / np.expm1(-_U)
# Cores of a service while no CPU limit was reported.
UNREPORTED = 0.0
# Seconds are summed by concurrency, in steps of 5 % where the pool was full, and 12 % where it was not.
LN_FULL_STEP, LN_PARTIAL_STEP = 0.05, 0.12
# After so many seconds of newer evidence of the same kind, older evidence has the weight 1/e. This is not clock time,
# so that evidence of one peak counts in the next one.
MEMORY_S = 180.0
# For a saturated size that is not in force, a second of other sizes adds DRIFT to the variance of ln X: 0.4 % of drift
# in 10 minutes. After LONG_MEMORY_S of them its weight is 1/e.
DRIFT, LONG_MEMORY_S = 3e-8, 14_400.0
# Errors of a level's mean that more seconds do not lessen, as parts: of a saturated pool, of one that is not, and of
# one on another CPU limit.
TAU_SATURATED, TAU_PARTIAL, TAU_ELSEWHERE = 0.007, 0.05, 0.10
# A level counts from here on.
LEAST_SECONDS, LEAST_COMPLETIONS = 0.3, 3.0
# At least this part of the concurrency is left where requests wait less.
LEAST_LEFT = 0.02


@dataclass(frozen=True)
class Second:
    """About a second of one target: concurrency and completions under one size and one CPU limit.

    cores: the CPU limit, `UNREPORTED` while none was reported. concurrency: mean in flight. Rates are per instance.
    saturated: full in at least 95 % of its buckets.
    """

    cores: float
    full: bool
    saturated: bool
    concurrency: float
    completions: float
    seconds: float

    @property
    def ln_rate(self) -> float:
        return log(self.completions / self.seconds)

    def carried(self, by_s: float) -> Second:
        """The second where each request waits `by_s` longer (`Evidence.carried`)."""
        concurrency = self.concurrency + by_s * self.completions / self.seconds
        return replace(self, concurrency=max(concurrency, LEAST_LEFT * self.concurrency))

    @property
    def numbers(self) -> tuple[float, ...]:
        """The fields as arguments of the compiled loops."""
        return self.cores, self.full, self.saturated, self.concurrency, self.completions, self.seconds


def second(
    cores: float, size: int, concurrency: Numbers, completions: Numbers, bucket_s: float, age_s: float = inf
) -> Second | None:
    """A second from buckets under `size`, shape (n,) each; None where they say nothing. age_s: age of their end when
    they were read.

    - With 70 % of its buckets full a second counts whole, as a full pool's throughput, which is not censored, as its
      goodput is. (Its full buckets alone read 3 % low: fewer complete in those.) It counts at its mean concurrency: at
      its size, a pool of 4 with 3.5 in flight would count as one that completes no more at 4.
    - Under 95 % the load limits it for a part: it completed only what arrived, which says little of the pool's
      capacity.
    - With at most 40 % it is a second of a pool that is not full. In between it is neither.
    - A second says nothing in which a pool drains to a smaller size: half of it at 46 and half at 24 is nothing that
      the pool does at 35. The same holds with more in flight than the pool holds, and for a mix of a full pool and one
      with little to do.

    Requests that have not ended yet are added to the mean, and make no second a full one. A second that would be full
    with them, and is not without, says nothing; nor does one where they are over 30 % of the seen concurrency. Worked:
    4.6 in flight of 16 and 34 completions, read after 0.1 s: that would be 16, and says nothing; after 5 s nothing is
    missing.
    """
    done = float(sum(completions))
    if done <= 0 or len(concurrency) == 0:
        return None
    in_flight = float(sum(concurrency))
    if in_flight <= 0:
        return None
    with_missing = ended(size, concurrency, done / (len(concurrency) * bucket_s) * age_s)
    full = share_full(size, concurrency)
    if float(sum(with_missing)) > MOST_MISSING * in_flight or (
        full < FULL and share_full(size, with_missing) > PARTIAL
    ):
        return None
    concurrency, in_flight = with_missing, float(sum(with_missing))
    mean, length = in_flight / len(concurrency), len(concurrency) * bucket_s
    if max(concurrency) > DRAINS * max(size, min(concurrency)) or mean > max(OVER * size, size + 0.5):
        return None
    if full < SATURATED and _fills(concurrency, done):
        return None
    if full >= FULL:
        return Second(cores, True, full >= SATURATED, mean, done, length)
    if full <= PARTIAL and not (full > 0 and _mixes(concurrency)):
        return Second(cores, False, False, mean, done, length)
    return None


class SecondRun(NamedTuple):
    """Buckets [low, high) of a second under the same size and cores. full: the share of full ones, NaN where no size
    was reported. second: None where the buckets say nothing, or no CPU limit was reported."""

    low: int
    full: float
    second: Second | None


def runs(buckets: tuple[Ints, Floats, Floats, Floats, Floats], bucket_s: float, now_ms: float) -> list[SecondRun]:
    """The runs of all buckets, in order: the same as `second` of each, at a tenth of the cost. buckets: start_ms,
    concurrency, completions, size and cores, (n,) each, n > 0. now_ms: up to this time the pool's newest data has the
    spans that ended."""
    start_ms = np.ascontiguousarray(buckets[0], np.int64)
    concurrency, completions, size, cores = (np.ascontiguousarray(column, np.float64) for column in buckets[1:])
    given = (start_ms, concurrency, completions, size, cores)
    seconds_by_run = []
    for low, high, full, kind, mean, done, seconds in parts(
        given, bucket_s, now_ms, (SATURATED, FULL, PARTIAL), (DRAINS, OVER), (FILLS, GROWS, MIXES), ENDED
    ).tolist():
        at, until, run_second = int(low), int(high), None
        on = float(cores[at])
        if kind == SecondKind.UNENDED:
            age_s = max(0.0, (now_ms - (int(start_ms[until - 1]) + 1_000 * bucket_s)) / 1_000)
            of, completed = concurrency[at:until].tolist(), completions[at:until].tolist()
            run_second = second(on, int(size[at]), of, completed, bucket_s, age_s)
        elif kind != SecondKind.NOTHING:
            run_second = Second(on, kind != SecondKind.PARTIAL, kind == SecondKind.SATURATED, mean, done, seconds)
        seconds_by_run.append(SecondRun(at, full, run_second))
    return seconds_by_run


def ended(size: int, concurrency: Numbers, since: float) -> Numbers:
    """Concurrency with the requests that have not ended yet, since a span is known only from its end on. since:
    completions, at the second's rate, until it was read.

    Of n in flight that take n / X each on average, exponentially, n (1 - exp(-X age / n)) have ended: solved for n,
    which the size bounds. Worked: 20 seen, 10 done in a second, 2 s ago: 20 is all that ended since, so the pool would
    be full. 20 seen and 200 done: a part of exp(-20) is missing.
    """
    most, mean = float(max(concurrency)), float(sum(concurrency)) / len(concurrency)
    if since <= 0 or mean <= ENDED * since or most >= size or 4 * most < size:
        return concurrency
    missing = float(np.interp(mean / since, ENDED_SHARE, ENDED_BY, right=inf))
    return [min(concurrent * missing, float(size)) if concurrent > 0 else 0.0 for concurrent in concurrency]


def _fills(concurrency: Numbers, completions: float) -> bool:
    """Whether a pool fills in this second, as over an edge: fewer complete than arrive."""
    third = max(1, len(concurrency) // 3)
    first, last = sum(concurrency[:third]) / third, sum(concurrency[-third:]) / third
    return last - first > FILLS * completions and last > GROWS * first


def _mixes(concurrency: Numbers) -> bool:
    """Whether its thirds are of a full pool and of one with little to do. Their mean is nothing that the pool does.
    Worked: half of a second at 32 with 1,500 a second, and half at 2.5 with 800, is not 17 with 1,150."""
    third = max(1, len(concurrency) // 3)
    thirds = [sum(concurrency[at : at + third]) for at in range(0, len(concurrency) - third + 1, third)]
    return float(max(thirds)) > MIXES * float(min(thirds))


def share_full(size: int, concurrency: Numbers) -> float:
    """Share of full buckets, by the rule of `Samples.full`."""
    least = min(size - 0.5, 0.9 * size)
    return len([concurrent for concurrent in concurrency if concurrent >= least]) / len(concurrency)


class Level(NamedTuple):
    """Seconds at about one concurrency, of a pool that was full or of one that was not. in_flight_s: sum of n dt."""

    cores: float
    full: bool
    saturated: bool
    step: int
    completions: float
    seconds: float
    in_flight_s: float


@dataclass(frozen=True, eq=False)
class LevelRows:
    """Levels as input of the posterior, each of shape (m,): ln n, ln of completions a second, its variance, whether the
    pool was full, and the level's cores divided by the present ones."""

    ln_n: Floats
    ln_rate: Floats
    variance: Floats
    full: NDArray[np.bool_]
    scale: Floats

    def __len__(self) -> int:
        return len(self.ln_n)

    def take(self, keep: NDArray[np.bool_]) -> LevelRows:
        return LevelRows(self.ln_n[keep], self.ln_rate[keep], self.variance[keep], self.full[keep], self.scale[keep])

    def same(self, other: LevelRows) -> bool:
        """Whether all numbers are the same."""
        pairs = zip((*self.columns, self.variance), (*other.columns, other.variance), strict=True)
        return all(ours.tobytes() == theirs.tobytes() for ours, theirs in pairs)

    @property
    def columns(self) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
        """All but the variance, as arguments of the compiled loops."""
        return self.ln_n, self.ln_rate, self.full, self.scale


class Evidence:
    """Levels, in the order in which they came. table: the same as an array, shape (n, 7), with a column for each field
    of `Level`; computations use the table. A value: neither changes."""

    __slots__ = ("_levels", "table")

    def __init__(self, levels: tuple[Level, ...] = (), table: Floats | None = None) -> None:
        """table: instead of `levels`."""
        self._levels: tuple[Level, ...] | None = levels if table is None else None
        self.table = _table(levels) if table is None else table

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, built on request."""
        if self._levels is None:
            self._levels = tuple(
                Level(cores, full > 0, saturated > 0, int(step), *sums)
                for cores, full, saturated, step, *sums in self.table.tolist()
            )
        return self._levels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and np.array_equal(self.table, other.table)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Evidence({self.levels})"

    def __reduce__(self) -> tuple[Callable[[bytes], Evidence], tuple[bytes]]:
        """As an array: a state is sent to another process at less than half of the cost of its numbers one by one."""
        return _restored, (self.table.tobytes(),)

    def has_all(self, others: Floats) -> bool:
        """Whether there is a level of the same cores, kind and step for each level of another `table`."""
        return has_all(self.table, others)

    def ever_full(self, cores: float) -> bool:
        """Whether a level is of a pool that was full on these cores."""
        return ever_full(self.table, cores)

    def full_s(self, least: float, cores: float = nan) -> float:
        """Seconds of a full pool with at least so many in flight, on this CPU limit; NaN: on any."""
        return full_s(self.table, log(least), cores)

    def weight(self, cores: float) -> float:
        """Seconds of evidence on this CPU limit, those of a saturated pool double. Unreported cores may be any: they
        are no evidence for a reported CPU limit, nor the other way round."""
        return weight(self.table, cores, UNREPORTED)

    def longest_stay_s(self) -> float:
        """How long requests stay on average (Little's law) in the level where they stay longest; 0 without levels."""
        return longest_stay_s(self.table)

    def seconds_on(self, cores: float) -> float:
        """Seconds of evidence on this CPU limit."""
        return seconds_on(self.table, cores)

    def carried(self, by_s: float) -> Evidence:
        """The evidence once each request waits `by_s` longer, or shorter, for what it calls: n becomes n + X by_s."""
        table = self.table.copy()
        in_flight_s = table[:, IN_FLIGHT_S]
        in_flight_s[:] = np.maximum(in_flight_s + by_s * table[:, COMPLETIONS], LEAST_LEFT * in_flight_s)
        steps = np.where(table[:, FULL_COLUMN] > 0, LN_FULL_STEP, LN_PARTIAL_STEP)
        table[:, STEP] = np.rint(np.log(in_flight_s / table[:, SECONDS]) / steps)
        return Evidence(table=table)

    def nearest(self, to: Second) -> Level | None:
        """The level with the nearest completions per second, of at least a second on the same cores; None without."""
        levels = [level for level in self.levels if level.cores == to.cores and level.seconds >= 1.0]
        return min(levels, key=lambda level: abs(log(level.completions / level.seconds) - to.ln_rate), default=None)

    def with_second(self, new: Second) -> Evidence:
        return self.with_seconds((new,))

    def with_seconds(self, new: Iterable[Second]) -> Evidence:
        """Adds seconds one after the other, oldest first. Each lowers the weight of older levels of the same cores and
        kind a little. Levels keep their order.

        Worked: 10,000 completions at a size count 9,996 after another second at another one, 8,129 after 10 minutes.
        """
        seconds = np.array([second.numbers for second in new], dtype=np.float64).reshape(-1, 6)
        steps, memory_s = (LN_FULL_STEP, LN_PARTIAL_STEP), (MEMORY_S, LONG_MEMORY_S)
        return Evidence(table=with_seconds(self.table, seconds, steps, memory_s, DRIFT, LEAST_SECONDS / 2))

    def completions_at(self, cores: float, sizes: Ints) -> Floats:
        """Completions of the saturated pool at each size, shape (N,), or within a step of it."""
        return completions_at(self.table, cores, sizes, LN_FULL_STEP)

    def rows(self, cores: float, dispersion: float = 1.0) -> LevelRows:
        """The levels that count for this CPU limit. dispersion: variance of counts divided by their mean.

        Worked: 2,000 completions of a saturated pool at 1.0: 1/2000 + 0.007^2, a standard error of 2.3 %.
        """
        least, errors = (LEAST_SECONDS, LEAST_COMPLETIONS), (TAU_SATURATED, TAU_PARTIAL, TAU_ELSEWHERE)
        ln_n, ln_rate, variance, full, scale = level_rows(self.table, cores, dispersion, least, errors)
        return LevelRows(ln_n, ln_rate, variance, full > 0, scale)


def _table(levels: Sequence[Level]) -> Floats:
    return np.array(levels, dtype=np.float64).reshape(-1, 7)


def _restored(table: bytes) -> Evidence:
    return Evidence(table=np.frombuffer(table).reshape(-1, 7).copy())  # Numba would compile again for a read-only array
