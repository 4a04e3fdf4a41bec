"""How far clocks are off, by how late spans come: numbers worked by hand."""

import pytest

from sluice.pools.clocks.offsets import (
    GONE,
    READINGS,
    Clocks,
    Instance,
    InstanceDelay,
    delays_of,
    fastest_ms,
    offset_ms,
)
from sluice.pools.windows.query import clock_of

A, B, C = Instance("cart", "a"), Instance("cart", "b"), Instance("stock", "c")
BUCKET_MS = 100
# Of a clock that is right, over a way of 200 ms.
RIGHT = InstanceDelay(200, 6, 180, 12)


def seen(usual_ms: int, least_ms: int | None = None, recent: int = 6, windows: int = 12) -> InstanceDelay:
    return InstanceDelay(usual_ms, recent, usual_ms if least_ms is None else least_ms, windows)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (RIGHT, 0),
        # 800 ms before they end, where the way takes 200: a second ahead.
        (seen(-800), 1_000),
        (seen(-800, recent=2), None),
        # Rounded times, and a clock that is 150 ms ahead, as far as can be seen 201 and 200.
        (seen(-1), 201),
        (seen(0), 0),
        # An exporter that sends every 5 s, a busy way: 3 s, 6.4 s late at least are nothing.
        (seen(3_000), 0),
        (seen(6_400), 0),
        # 8 s late at least: 8 - 6 - 0.2 s behind; not while a window of two minutes had a faster span, or is missing.
        (seen(8_000), -1_800),
        (seen(8_000, least_ms=900), 0),
        (seen(8_000, windows=5), None),
    ],
)
def test_offset(given: InstanceDelay, expected: int | None) -> None:
    assert offset_ms(given, 200) == expected


def test_the_way_is_the_fastest_of_those_that_are_not_ahead() -> None:
    assert fastest_ms([RIGHT, seen(900), seen(-800), seen(20, recent=1)]) == 200
    assert fastest_ms([seen(-800)]) == 0
    assert fastest_ms([]) == 0


def test_where_most_of_many_are_ahead_the_brokers_clock_is_behind() -> None:
    each = [seen(ms) for ms in (-700, -800, -2_000, -810, 300)]
    assert fastest_ms(each) == -800
    # Not even the last, whose clock is a second behind the others', is said to be: its exporter may keep spans.
    assert [offset_ms(one, -800) for one in each] == [0, 0, 1_200, 0, 0]
    assert fastest_ms(each[:4]) == 0


def test_one_alone_that_is_ahead_is_so_by_what_is_sure() -> None:
    clocks = Clocks()
    clocks.take({A: seen(-800)}, BUCKET_MS)
    assert clocks.offsets_ms == {A: 800}


def test_of_right_clocks_nothing_is_taken_out() -> None:
    clocks = Clocks()
    clocks.take({A: RIGHT, B: seen(250), C: seen(1_900)}, BUCKET_MS)
    assert clocks.offsets_ms == {}


def test_an_offset_stays_until_it_is_another_for_three_readings() -> None:
    clocks = Clocks()
    for usual_ms in (-800, -850, -720, -900, -700):  # 1,000 ms, give or take a bucket
        clocks.take({A: seen(usual_ms), B: RIGHT}, BUCKET_MS)
        assert clocks.offsets_ms == {A: 1_000}
    for usual_ms in (-500, -500, -800, -500, -500):  # back in between
        clocks.take({A: seen(usual_ms), B: RIGHT}, BUCKET_MS)
        assert clocks.offsets_ms == {A: 1_000}
    clocks.take({A: seen(-500), B: RIGHT}, BUCKET_MS)
    assert clocks.offsets_ms == {A: 700}
    for left in reversed(range(READINGS)):  # NTP puts it right
        clocks.take({A: RIGHT, B: RIGHT}, BUCKET_MS)
        assert clocks.offsets_ms == ({A: 700} if left else {})


def test_a_step_is_a_bucket_where_these_are_longer() -> None:
    clocks = Clocks()
    for usual_ms in (-800, -300, -300, -300, -300):
        clocks.take({A: seen(usual_ms), B: RIGHT}, 500)
    assert clocks.offsets_ms == {A: 1_000}


def test_while_the_way_is_slow_nothing_is_said() -> None:
    """Kafka comes back: what was kept meanwhile comes 30 s late, of a clock that is ahead 29 s."""
    clocks = Clocks()
    clocks.take({A: seen(-800), B: RIGHT}, BUCKET_MS)
    for _ in range(5):
        clocks.take({A: seen(29_000), B: seen(30_000)}, BUCKET_MS)
    assert clocks.offsets_ms == {A: 1_000}


def test_a_thousand_are_taken_out_and_stay_those() -> None:
    clocks = Clocks()
    clocks.take({Instance("s", str(n)): seen(-800 - n if n < 1_500 else 200) for n in range(4_000)}, BUCKET_MS)
    assert list(clocks.offsets_ms) == [Instance("s", str(n)) for n in range(1_000)]


def test_who_is_gone_is_forgotten() -> None:
    clocks = Clocks()
    clocks.take({A: seen(-800), B: RIGHT}, BUCKET_MS)
    for _ in range(GONE):
        clocks.take({B: RIGHT}, BUCKET_MS)
    assert clocks.offsets_ms == {A: 1_000}
    clocks.take({B: RIGHT}, BUCKET_MS)
    assert clocks.offsets_ms == {}


def test_columns_become_what_was_seen() -> None:
    assert delays_of([["cart"], ["a"], [-800], [6], [-850], [12]]) == {A: InstanceDelay(-800, 6, -850, 12)}


def test_names_of_a_service_and_an_instance_do_not_stand_for_each_other() -> None:
    assert len({clock_of(Instance(*names)) for names in (("a", "b"), ("b", "a"), ("a", "a"), ("b", "b"))}) == 4
