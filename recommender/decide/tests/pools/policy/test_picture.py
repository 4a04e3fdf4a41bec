"""What is drawn of a belief: the points that it was learnt from, a curve with a band, the sizes as good as the best."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.estimate.belief.family import SIZES
from sluice.pools.policy.picture import CurvePoint, Picture, draw
from sluice.pools.policy.state import Learnt
from sluice.pools.policy.worth import outlook
from sluice_kit.decide.feeds import FALLS, Curve, evidence


def learnt(seen: Evidence, cores: float = 4.0) -> Learnt:
    return Learnt(evidence=seen, kept=believed(None, seen, cores))


def drawn(seen: Evidence, size: int | None = 16, cores: float = 4.0) -> Picture:
    found = draw(learnt(seen, cores), size)
    assert found is not None
    return found


KNOWN = evidence(8, 12, 16, 20, 32, 64)


def test_a_belief_that_is_not_held_is_made_again() -> None:
    held = learnt(KNOWN)
    assert draw(replace(held, kept=None), 16, cores=4.0) == draw(held, 16)


def test_nothing_is_drawn_where_nothing_is_believed() -> None:
    assert draw(Learnt(), 16) is None
    assert draw(Learnt(evidence=KNOWN), 16) is None
    # The belief is of what was forgotten since.
    assert draw(replace(learnt(KNOWN), evidence=evidence(16, seconds=1)), 16) is None


def test_points_are_means_of_what_was_seen() -> None:
    seen = evidence(16, seconds=5).with_second(Second(4.0, False, False, 3.0, 120.0, 1.0))
    seen = seen.with_second(Second(2.0, True, True, 10.0, 200.0, 1.0))
    light, other, full = drawn(seen).points
    assert light == CurvePoint(pytest.approx(3.0), pytest.approx(120.0), pytest.approx(1.0), full=False, cores=4.0)
    assert other == CurvePoint(pytest.approx(10.0), pytest.approx(200.0), pytest.approx(1.0), full=True, cores=2.0)
    # 1 + e^(-1/180) + ... of five seconds.
    assert full == CurvePoint(
        pytest.approx(16.0), pytest.approx(FALLS.throughput(16)), pytest.approx(4.945, abs=1e-3), full=True, cores=4.0
    )
    assert drawn(seen).seconds == pytest.approx(light.seconds + full.seconds)


def test_what_does_not_count_is_not_drawn() -> None:
    seen = KNOWN.with_second(Second(4.0, True, True, 100.0, 2.0, 1.0))
    assert max(point.concurrency for point in drawn(seen).points) == pytest.approx(64)


def test_the_curve_of_a_known_pool() -> None:
    found = drawn(KNOWN, size=64)
    by_size = {each.size: each for each in found.curve}
    for size in (8, 16, 32, 64):  # the last one is on it because it is in force
        assert by_size[size].per_s == pytest.approx(FALLS.throughput(size), rel=0.02)
        assert by_size[size].lower_per_s < FALLS.throughput(size) < by_size[size].upper_per_s
    assert found.knee <= FALLS.best() <= found.upper
    assert found.best == pytest.approx(FALLS.best(), abs=2)
    # 64 completes 176 where the best one completes 364.
    assert found.loss == pytest.approx(1 - FALLS.throughput(64) / FALLS.throughput(16), abs=0.02)
    assert max(by_size) == max(size for size in SIZES if size <= 128)
    assert 64 in by_size
    assert 64 not in SIZES


def test_the_curve_goes_to_twice_what_was_seen_or_is_in_force() -> None:
    few = evidence(4, seconds=5)
    assert max(each.size for each in drawn(few, size=3).curve) == 8
    assert max(each.size for each in drawn(few, size=10).curve) == 20
    assert max(each.size for each in drawn(few, size=4_000).curve) == SIZES[-1]


def test_without_one_size_in_force_no_loss_is_known() -> None:
    known, unknown = drawn(KNOWN), drawn(KNOWN, size=None)
    assert unknown == replace(known, loss=None)  # 16 is a size of the curve anyway


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    seconds=st.integers(1, 20),
    size=st.none() | st.integers(1, 500),
    cores=st.sampled_from([0.5, 4.0, 16.0]),
    curve=st.builds(Curve, st.floats(1, 1_000), st.sampled_from([0.0, 0.02, 0.1]), st.sampled_from([0.0, 0.001, 0.02])),
)
def test_whatever_was_seen(sizes: list[int], seconds: int, size: int | None, cores: float, curve: Curve) -> None:
    seen = evidence(*sizes, seconds=seconds, curve=curve)
    picture = drawn(seen, size, cores)
    assert all(0 < each.lower_per_s < each.per_s < each.upper_per_s for each in picture.curve)
    assert [each.size for each in picture.curve] == sorted({each.size for each in picture.curve})
    assert picture.knee <= picture.best <= picture.upper
    assert picture.loss is None or 0 <= picture.loss < 1
    assert [each.concurrency for each in picture.points] == sorted(each.concurrency for each in picture.points)
    assert picture.seconds == seen.seconds_on(cores)
    said = outlook(believed(None, seen, cores).now, size or 1)
    assert (picture.knee, picture.best, picture.upper) == (said.lower, said.best, said.upper)
