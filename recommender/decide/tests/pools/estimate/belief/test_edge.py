"""What is left out of the curve as an edge, and where it may be."""

from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.pools.estimate.belief.edge import split
from sluice.pools.estimate.belief.evidence import LevelRows

KNOWN = 0.02**2


def rows(*seen: tuple[float, float], full: bool = True, scale: float = 1.0, variance: float = KNOWN) -> LevelRows:
    """Of (threads, completions a second)."""
    n, rate = np.array(seen, dtype=float).T
    count = len(seen)
    return LevelRows(np.log(n), np.log(rate), np.full(count, variance), np.full(count, full), np.full(count, scale))


def both(one: LevelRows, other: LevelRows) -> LevelRows:
    columns = zip((*one.columns, one.variance), (*other.columns, other.variance), strict=True)
    ln_n, ln_rate, full, scale, variance = (np.concatenate(pair) for pair in columns)
    return LevelRows(ln_n, ln_rate, variance, full, scale)


def test_a_fall_steeper_than_crosstalk_makes_is_an_edge() -> None:
    fits, edge = split(rows((10, 40.0), (20, 72.0), (40, 15.0)))
    assert np.exp(fits.ln_n) == pytest.approx([10, 20])
    assert edge is not None
    assert np.exp([edge.below, edge.above]) == pytest.approx([20, 40])
    # Half a level from either end nothing is open; from there it is anywhere in ln n.
    found = edge.chance(np.log([10.0, 20.0, 28.0, 40.0, 80.0]))
    assert found == pytest.approx([0, 0, (log(1.4) - 0.025) / (log(2) - 0.05), 1, 1])
    assert np.exp(edge.fallen(np.log([30.0, 80.0]))) == pytest.approx([15, 15])


@pytest.mark.parametrize("larger", [72.0, 36.0, 30.0])
def test_what_falls_as_1_by_n_is_a_curve(larger: float) -> None:
    # -1.2 ln 2 - 0.15 is -0.98, 27 of 72; less two standard errors, 25.5.
    seen = rows((10, 40.0), (20, 72.0), (40, larger))
    fits, edge = split(seen)
    assert edge is None
    assert fits is seen


def test_one_that_is_hardly_known_is_no_edge() -> None:
    # Known within 45 %: 15 of 72 is -1.57, which two standard errors bring to -0.65.
    assert split(both(rows((10, 40.0), (20, 72.0)), rows((40, 15.0), variance=0.45**2)))[1] is None


def test_where_more_threads_stand_the_fall_was_a_passing_trouble() -> None:
    assert split(rows((10, 40.0), (20, 5.0), (40, 80.0)))[1] is None


def test_what_stood_at_the_size_that_fell_stands_there_no_more() -> None:
    fits, edge = split(rows((20, 72.0), (30, 108.0), (38, 130.0), (38.1, 20.0)))
    assert edge is not None
    assert np.exp([edge.below, edge.above]) == pytest.approx([30, 38.1])
    assert np.exp(fits.ln_n) == pytest.approx([20, 30])


def test_where_no_smaller_one_is_known_to_stand_there_is_no_edge() -> None:
    seen = rows((1, 2.0), (1, 1.0), (2, 0.4))
    assert split(seen) == (seen, None)


def test_a_pool_that_is_not_full_says_nothing_beyond_what_stood() -> None:
    busy = rows((15, 55.0), (25, 20.0), full=False)
    fits, edge = split(both(rows((10, 40.0), (20, 72.0), (40, 15.0)), busy))
    assert edge is not None
    assert sorted(np.exp(fits.ln_n)) == pytest.approx([10, 15, 20])


def test_an_edge_on_other_cores_is_left_out_and_is_none_on_these() -> None:
    elsewhere = rows((10, 40.0), (20, 72.0), (40, 15.0), scale=0.5)
    fits, edge = split(both(rows((10, 40.0), (20, 80.0)), elsewhere))
    assert edge is None
    assert len(fits) == 4


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0.1, 1_000.0)), min_size=1, max_size=12))
@example([(1, 2.0), (1, 1.0), (2, 1.0)])
def test_an_edge_lies_between_what_stood_and_what_fell(seen: list[tuple[int, float]]) -> None:
    whole = rows(*[(float(n), rate) for n, rate in seen])
    fits, edge = split(whole)
    assert len(fits) >= 1
    if edge is None:
        assert fits is whole
        return
    assert edge.below < edge.above
    chance = edge.chance(np.linspace(0.0, 6.0, 50))
    assert (np.diff(chance) >= 0).all()
    assert (chance >= 0).all()
    assert (chance <= 1).all()
    assert fits.ln_n.max() < edge.above


@pytest.mark.parametrize(("rate", "fell"), [(29.0, True), (200.0, False)])
def test_what_fell_on_other_cores_says_nothing_of_the_curve_either(rate: float, fell: bool) -> None:
    """11 complete 866 a second on 8 cores, and 22 fell. On 4 cores 22 is all that was seen: half of 866 x 0.5^1.2 x
    0.86 is 162, of which two standard errors leave 153."""
    here = rows((6, 478.0), (11, 866.0), (22, 61.0))
    fits, edge = split(both(here, rows((22, rate), scale=0.5)))
    assert edge is not None
    assert np.exp(fits.ln_n).tolist() == pytest.approx([6, 11] if fell else [6, 11, 22])
    # A pool that was not full completed what came.
    light = both(here, rows((22, 29.0), full=False, scale=0.5))
    assert len(split(light)[0]) == 3
