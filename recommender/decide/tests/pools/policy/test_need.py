"""What the busiest stretch needed: numbers by hand."""

from dataclasses import replace
from math import inf

from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.policy.allowed import least_needed
from sluice.pools.policy.learn import learn
from sluice.pools.policy.need import BEST_SHARE, DAY_MS, HOUR_MS, RESERVE, Peak, busiest, with_peaks
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Learnt
from sluice.pools.policy.worth import prospects
from sluice_kit.decide.feeds import FALLS, Curve, buckets, evidence, full, joined

HOUR = 1_699_999_200_000
S0 = HOUR // 1_000


def beats(*good: float, since: int = S0) -> tuple[Beat, ...]:
    return tuple(Beat(since + at, 16, each, 1.0, 4.0, 1.0) for at, each in enumerate(good))


def test_a_peak_is_the_busiest_10_s_of_an_hour() -> None:
    """1 to 15 a second, one after the other: 5 to 14 is the first stretch of 10 that ends at 14, 6 to 15 does 10.5."""
    assert with_peaks((), beats(*range(1, 16)), S0) == (Peak(HOUR, 10.5),)
    # What fails does not count, and a burst of a second is a tenth of it.
    assert with_peaks((), beats(*[0.0] * 12, 100.0), S0) == (Peak(HOUR, 10.0),)


def test_half_of_10_s_has_to_be_known() -> None:
    assert with_peaks((), beats(*[8.0] * 4), S0) == ()
    assert with_peaks((), beats(*[8.0] * 5), S0) == (Peak(HOUR, 8.0),)
    assert with_peaks((), (), S0) == ()


def test_what_ended_before_was_counted_already() -> None:
    had = (Peak(HOUR, 3.0),)
    assert with_peaks(had, beats(*[9.0] * 10, *[1.0] * 10), S0 + 19) == had


def test_an_hour_has_one_peak_and_those_of_the_horizon_stay() -> None:
    had = (Peak(HOUR - 3 * HOUR_MS, 50.0), Peak(HOUR - 2 * HOUR_MS, 7.0), Peak(HOUR - HOUR_MS, 9.0))
    found = with_peaks(had, beats(*[8.0] * 10), S0, horizon_ms=2 * HOUR_MS)
    assert found == (Peak(HOUR - 2 * HOUR_MS, 7.0), Peak(HOUR - HOUR_MS, 9.0), Peak(HOUR, 8.0))
    assert busiest(found) == 9.0
    assert with_peaks(found, beats(*[6.0] * 10, since=S0 + 60), S0 + 60) == found
    assert busiest(with_peaks(found, beats(*[10.0] * 10, since=S0 + 60), S0 + 60)) == 10.0
    assert busiest(()) == 0.0


def test_a_stretch_over_the_hour_is_of_the_hour_in_which_it_ends() -> None:
    found = with_peaks((), beats(*[8.0] * 10, *[2.0] * 5, since=S0 + 3_590), S0)
    assert found == (Peak(HOUR, 8.0), Peak(HOUR + HOUR_MS, (9 * 8 + 2) / 10))


def test_a_burst_counts_alike_in_whatever_periods_it_is_read() -> None:
    """A minute at 20 a second with 10 s of 120 in it; read at once, as after a restart, or by the second."""
    parts = [buckets(HOUR + 1_000 * at, 1, 16, 4.0, 120.0 if 10 <= at < 20 else 20.0) for at in range(60)]
    at_once, one_by_one = learn(Learnt(), joined(*parts)), Learnt()
    for part in parts:
        one_by_one = learn(one_by_one, part)
    assert [round(each.per_s, 6) for each in at_once.peaks] == [120.0]
    assert at_once.peaks == one_by_one.peaks
    assert at_once.beats == one_by_one.beats
    assert len(at_once.beats) == 30
    assert DAY_MS == 24 * HOUR_MS


def needed(peak: float, current: int, curve: Curve, *sizes: int, slo_s: float = inf) -> int:
    learnt = Learnt(evidence=evidence(*sizes, curve=curve, seconds=60), peaks=(Peak(HOUR, peak),))
    return least_needed(learnt, expected(learnt.evidence, current), current, slo_s)


def expected(of: Evidence, current: int) -> Floats:
    return prospects(believed(None, of, 4.0).now, current, (current, current), inf).expected


def test_a_pool_that_was_light_keeps_what_its_peak_took_and_a_quarter_more() -> None:
    """4 a second a thread, of 0.25 s each: 12 a second and a quarter more are 15, which 4 threads do and 3 do not."""
    straight = Curve(speed=4.0, contention=0.0, crosstalk=0.0)
    assert needed(12.0, 32, straight, 4, 8, 16, 32) == 4
    assert needed(16.2, 32, straight, 4, 8, 16, 32) == 6
    # 40 a second need 50: 13 threads; 12 in force are left to it.
    assert needed(40.0, 12, straight, 4, 8, 16) == 12
    assert RESERVE == 1.25


def test_an_overloaded_pool_is_not_kept_from_the_size_that_completes_most() -> None:
    """64 threads complete 176 a second, 16 do 354: 220 is what the peak needed, and 6 threads do 248, 5 do 216."""
    assert FALLS.throughput(5) < RESERVE * FALLS.throughput(64) < FALLS.throughput(6)
    assert needed(FALLS.throughput(64), 64, FALLS, 4, 5, 6, 8, 12, 16, 32, 64) == 6
    # Of 354 a second a quarter more is beyond what it can: 99 % of the best, from 14 on.
    low = needed(FALLS.throughput(16), 64, FALLS, 8, 12, 13, 14, 15, 16, 20, 32, 64)
    assert FALLS.throughput(low) >= (BEST_SHARE - 0.005) * FALLS.throughput(16)
    assert 13 <= low <= 15


def test_a_service_that_falls_keeps_the_smallest_size_that_does_a_quarter_more_than_its_peak() -> None:
    """99 a second at 12 threads, 50.1 at 64: of a peak of that 62.6 are asked for, which 6 threads do and 5 do not."""
    falls = replace(FALLS, speed=14.4)
    assert [round(falls.throughput(size)) for size in (5, 6, 12, 64)] == [62, 71, 99, 50]
    assert needed(falls.throughput(64), 64, falls, 3, 4, 5, 6, 8, 12, 16, 32, 64) == 6


def test_what_is_late_is_not_needed() -> None:
    """FALLS completes 330 a second at 12 threads, of 36 ms each, and 354 at 16, of 45 ms. Within 40 ms 0.58 of the
    first are in time, and 0.41 of the others. Where no size has half in time, all completions count."""
    sizes = (2, 4, 6, 8, 10, 12, 14, 16, 20, 32, 64)
    peak = FALLS.throughput(16)
    assert needed(peak, 64, FALLS, *sizes) in (13, 14, 15)
    assert needed(peak, 64, FALLS, *sizes, slo_s=0.04) < 12
    assert needed(peak, 64, FALLS, *sizes, slo_s=0.001) in (13, 14, 15)


def test_nothing_known_needs_nothing() -> None:
    assert needed(0.0, 64, FALLS, 8, 16) == 1
    assert least_needed(learn(Learnt(), full(HOUR, 0, 16)), expected(evidence(), 64), 64) == 1
