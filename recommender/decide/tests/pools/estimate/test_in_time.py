"""Whether buckets differ by when they were."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.in_time import in_turns


def compared(first: list[int], second: list[int]) -> list[tuple[list[int], list[int]]]:
    """What of the two is compared with what: times before the cut, and from it on."""
    times = np.unique(first + second)
    seen: list[tuple[list[int], list[int]]] = []

    def holds(one: np.ndarray, other: np.ndarray) -> bool:
        seen.append((times[one].tolist(), times[other].tolist()))
        return False

    assert not in_turns(times, np.isin(times, first), np.isin(times, second), holds)
    return seen


def test_times_are_cut_where_they_are_furthest_apart() -> None:
    assert compared([0, 1, 2], [3, 4, 5]) == [([0, 1, 2], []), ([], [3, 4, 5])]
    assert compared([3, 4, 5], [0, 1, 2]) == [([], [0, 1, 2]), ([3, 4, 5], [])]
    assert compared([0, 1, 4, 5], [2, 3, 6, 7]) == [([0, 1], []), ([4, 5], [2, 3, 6, 7])]
    assert compared([0, 1, 2, 9], [3, 4, 5, 6]) == [([0, 1, 2], []), ([9], [3, 4, 5, 6])]


@given(st.sets(st.integers(0, 100), min_size=2, max_size=50), st.data())
def test_nothing_is_left_out_and_the_clock_does_not_matter(times: set[int], data: st.DataObject) -> None:
    first = data.draw(st.sets(st.sampled_from(sorted(times)), min_size=1, max_size=len(times) - 1))
    one, other = sorted(first), sorted(times - first)
    before, since = compared(one, other)
    assert [before[0] + since[0], before[1] + since[1]] == [one, other]
    later = compared([t + 7 for t in one], [t + 7 for t in other])
    assert later == [tuple([t + 7 for t in part] for part in side) for side in (before, since)]


def test_either_part_is_enough() -> None:
    times = np.arange(8)
    first = np.isin(times, [0, 1, 4, 5])
    assert in_turns(times, first, ~first, lambda one, other: bool(one.any() and other.any()))
    once = times < 4
    assert not in_turns(times, once, ~once, lambda one, other: bool(one.any() and other.any()))
