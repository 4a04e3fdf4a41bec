"""What completes, by second and size: numbers by hand."""

from dataclasses import replace

import numpy as np
import pytest

from sluice.pools.policy.pace import (
    LASTS_S,
    Beat,
    Pace,
    Timely,
    after_a_stay,
    newest,
    pace_of,
    since,
    timely_over,
    visit,
    with_beats,
)
from sluice_kit.decide.feeds import buckets, joined

T0 = 1_700_000_000_000
S0 = T0 // 1_000


def test_beats_are_of_a_second_under_one_size() -> None:
    """Half a second at 16 and half at 32, 20 a second, of which a quarter fails at 32; 4 in flight all the time."""
    first, second = buckets(T0, 0.5, 16, 4.0, 20.0), buckets(T0 + 500, 1.5, 32, 4.0, 20.0)
    both = joined(first, second)
    errors = np.where(both.size == 32, 0.25 * both.completions, 0.0)
    found = with_beats((), replace(both, errors=errors))
    assert [(beat.second - S0, beat.size) for beat in found] == [(0, 16), (0, 32), (1, 32)]
    assert [tuple(beat[2:6]) for beat in found] == [
        pytest.approx((10.0, 0.0, 2.0, 0.5)),
        pytest.approx((7.5, 2.5, 2.0, 0.5)),
        pytest.approx((15.0, 5.0, 4.0, 1.0)),
    ]


def test_a_beat_has_what_callers_see() -> None:
    """Of a second with 20 completions, 2 in each bucket, 8 buckets are judged: 1 of 2 in time; 6 call in all of it."""
    of = buckets(T0, 1, 16, 4.0, 20.0)
    good = np.where(np.arange(10) < 8, 1.0, np.nan)
    (beat,) = with_beats((), replace(of, good=good, callers=np.full(10, 6.0)))
    assert beat[6:] == pytest.approx((16.0, 8.0, 6.0))


def test_what_callers_see_is_a_mean_over_judged_beats() -> None:
    """100 completions in 2 s, 80 judged, 60 of these in time: 37.5 of 50 a second. The third second is not judged."""
    of = [Beat(S0 + at, 16, 50.0, 0.0, 16.0, 1.0, 40.0, 30.0, 18.0) for at in range(2)]
    assert timely_over([*of, Beat(S0 + 2, 16, 9.0, 0.0, 16.0, 1.0)]) == Timely(50.0, 37.5, 18.0, 16.0)
    assert timely_over(of[:1]) is None  # 40 judged


def test_a_second_that_comes_in_two_periods_is_one_beat() -> None:
    whole = buckets(T0, 2, 16, 4.0, 20.0)
    twice = with_beats(with_beats((), whole.take(slice(0, 7))), whole.take(slice(7, 20)))
    for one, other in zip(twice, with_beats((), whole), strict=True):
        assert tuple(one) == pytest.approx(tuple(other))


def test_what_nobody_told_the_size_of_is_no_beat() -> None:
    untold = replace(buckets(T0, 1, 16, 4.0, 20.0), size=np.full(10, np.nan))
    assert with_beats((), untold) == ()
    assert with_beats((), buckets(T0, 0, 16, 4.0, 20.0)) == ()


def test_more_errors_than_completions_are_none_without_errors() -> None:
    (beat,) = with_beats((), replace(buckets(T0, 1, 16, 4.0, 10.0), errors=np.full(10, 2.0)))
    assert (beat.good, beat.failed) == (0.0, 20.0)


def test_the_newest_half_minute_is_kept() -> None:
    found = newest(with_beats((), buckets(T0, 40, 16, 4.0, 20.0)))
    assert [beat.second - S0 for beat in found] == list(range(10, 40))
    assert LASTS_S == 30
    assert newest(()) == ()


def test_the_mean_of_some_beats() -> None:
    """20 completions and 5 errors in 2 s of 4 in flight."""
    beats = [
        Beat(S0, 16, 12.0, 2.0, 4.0, 1.0),
        Beat(S0 + 1, 16, 8.0, 3.0, 4.0, 1.0),
        Beat(S0 + 2, 32, 99.0, 0.0, 9.0, 1.0),
    ]
    found = pace_of(beats, 16)
    assert found == Pace(seconds=2.0, per_s=10.0, stay_s=8 / 25, failed=0.2, in_flight=4.0, errors=5.0)
    assert found.completions == 25.0
    assert pace_of(beats, 16, S0 + 1) == Pace(1.0, 8.0, 4 / 11, 3 / 11, 4.0, 3.0)
    assert pace_of(beats, 16, S0 + 1.001) is None
    assert pace_of(beats, 20) is None


def test_where_nothing_ends_nobody_knows_how_long_it_stays() -> None:
    assert pace_of([Beat(S0, 16, 0.0, 0.0, 16.0, 1.0)], 16) == Pace(1.0, 0.0, 0.0, 0.0, 16.0, 0.0)


def test_beats_since_a_size_and_of_its_last_visit() -> None:
    one, two, three = (Beat(second, 32, 10.0, 0.0, 1.0, 1.0) for second in (1, 2, 5))
    other, last = Beat(4, 16, 10.0, 0.0, 1.0, 1.0), Beat(6, 8, 10.0, 0.0, 1.0, 1.0)
    beats = (one, two, other, three, last)
    assert since(beats, 32) == (last,)
    assert since(beats, 64) == beats
    assert visit(beats, 32) == (three,)
    assert visit(beats[:2], 32) == (one, two)
    assert visit(beats, 64) == ()


@pytest.mark.parametrize(
    ("in_flight", "left"),
    [
        # 0.1 s each: all seconds but those that begin within it.
        (5.0, [1, 2, 3]),
        (75.0, [2, 3]),
        # 4 s each: only the newest is left.
        (200.0, [3]),
    ],
)
def test_seconds_after_the_first_stay(in_flight: float, left: list[int]) -> None:
    beats = tuple(Beat(S0 + at, 16, 50.0, 0.0, in_flight, 1.0) for at in range(4))
    assert [beat.second - S0 for beat in after_a_stay(beats)] == left
    assert after_a_stay(()) == ()
    silent = (beats[0], beats[1]._replace(good=0.0))
    assert after_a_stay(silent) == silent
