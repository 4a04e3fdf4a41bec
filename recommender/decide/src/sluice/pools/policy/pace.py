"""Beats: the completions of each second of the newest half minute, by the size in force; and their mean. Pure.

The guard (`harm.py`) judges by beats and not by the belief. They count completions without an error, however full spans
show the pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sluice.fast.beats import beats_with
from sluice.pools.policy.observation import Buckets

LASTS_S = 30
# The newest beats of a visit that callers' spans are taken from, and the completions that these need.
NEWEST, LEAST_JUDGED = 5, 50.0


class Beat(NamedTuple):
    """One second (Unix time) of one instance under one size: completions with and without an error, sum of n dt, and
    the part of the second that it covers. in_time: of the `judged` completions without an error, those within the SLO;
    callers_s: sum of calls in flight. All three are 0 where nobody judges the pool."""

    second: int
    size: int
    good: float
    failed: float
    in_flight_s: float
    length_s: float
    judged: float = 0.0
    in_time: float = 0.0
    callers_s: float = 0.0


@dataclass(frozen=True)
class Pace:
    """The mean of some beats. per_s: completions without an error; stay_s: how long a request stays, by Little's law, 0
    where nothing ends; failed: the share of errors, 0..1; in_flight: mean."""

    seconds: float
    per_s: float
    stay_s: float
    failed: float
    in_flight: float
    errors: float

    @property
    def completions(self) -> float:
        """With and without an error."""
        return self.per_s * self.seconds + self.errors


@dataclass(frozen=True)
class Timely:
    """What callers' spans show over some beats.

    per_s: completions without an error; in_time_per_s: those within the SLO. callers: calls in flight, those that wait
    for a place among them; in_flight: requests in the pool.
    """

    per_s: float
    in_time_per_s: float
    callers: float
    in_flight: float


def timely_over(beats: Iterable[Beat]) -> Timely | None:
    """Over the beats in which callers judge the pool; None where they judge less than 50 completions.

    Worked: 100 completions in 2 s, 80 of them judged and 60 of these in time: 50 a second, 37.5 in time.
    """
    of = tuple(beat for beat in beats if beat.judged > 0 and beat.callers_s > 0)
    judged, length_s = sum(beat.judged for beat in of), sum(beat.length_s for beat in of)
    if judged < LEAST_JUDGED:
        return None
    per_s = sum(beat.good for beat in of) / length_s
    return Timely(
        per_s=per_s,
        in_time_per_s=per_s * sum(beat.in_time for beat in of) / judged,
        callers=sum(beat.callers_s for beat in of) / length_s,
        in_flight=sum(beat.in_flight_s for beat in of) / length_s,
    )


_NO_BEAT = Beat(0, -1, 0.0, 0.0, 0.0, 0.0)


def with_beats(beats: tuple[Beat, ...], buckets: Buckets) -> tuple[Beat, ...]:
    """Adds newer buckets, oldest first, where their size is known."""
    if len(buckets) == 0:
        return beats
    columns = (
        buckets.start_ms,
        buckets.size,
        buckets.completions,
        buckets.errors,
        buckets.concurrency,
        buckets.good,
        buckets.callers,
    )
    newer = beats_with(np.array(beats[-1] if beats else _NO_BEAT), np.array(columns), buckets.bucket_s)
    return *beats[:-1], *(Beat(int(second), int(size), *sums) for second, size, *sums in newer.tolist())


def newest(beats: tuple[Beat, ...]) -> tuple[Beat, ...]:
    """The beats of the newest half minute."""
    since = beats[-1].second - LASTS_S if beats else 0
    return tuple(beat for beat in beats if beat.second > since) if beats and beats[0].second <= since else beats


def since(beats: tuple[Beat, ...], size: int) -> tuple[Beat, ...]:
    """The beats after the last one under that size."""
    last = max((at for at, beat in enumerate(beats) if beat.size == size), default=-1)
    return beats[last + 1 :]


def visit(beats: tuple[Beat, ...], size: int) -> tuple[Beat, ...]:
    """Those of the last time that it was in force."""
    ends = len(beats)
    while ends and beats[ends - 1].size != size:
        ends -= 1
    begins = ends
    while begins and beats[begins - 1].size == size:
        begins -= 1
    return beats[begins:ends]


def pace_of(beats: Iterable[Beat], size: int, since_s: float = float("-inf")) -> Pace | None:
    """The pace at that size, in whole seconds from `since_s` on; None where there is no beat."""
    return pace_over(beat for beat in beats if beat.size == size and beat.second >= since_s)


def pace_over(beats: Iterable[Beat]) -> Pace | None:
    """The mean of these beats; None where there is none.

    Worked: 20 completions and 5 errors in 2 s of 4 in flight: 10 a second, 8 / 25 = 0.32 s each, a fifth failed.
    """
    length = good = failed = in_flight_s = 0.0
    for beat in beats:
        length += beat.length_s
        good += beat.good
        failed += beat.failed
        in_flight_s += beat.in_flight_s
    if length <= 0:
        return None
    done = good + failed
    return Pace(
        seconds=length,
        per_s=good / length,
        stay_s=in_flight_s / done if done > 0 else 0.0,
        failed=failed / done if done > 0 else 0.0,
        in_flight=in_flight_s / length,
        errors=failed,
    )


def after_a_stay(beats: tuple[Beat, ...]) -> tuple[Beat, ...]:
    """The beats that begin a stay of a request, as of the newest beat, after the first; at least the newest. All, where
    nothing completed in that.

    Worked: 151, 35 and 44 a second complete, 49, 88 and 88 are in flight: requests stay for 2 s, so only 44 is left.
    """
    done = beats[-1].good + beats[-1].failed if beats else 0.0
    if done <= 0:
        return beats
    since_s = beats[0].second + beats[-1].in_flight_s / done
    return tuple(beat for beat in beats if beat.second >= since_s) or beats[-1:]
