"""What makes an answer a new one."""

import pytest

from sluice.pools.publication.publication import Content, settled


def content(*range_: int | None, target: int = 12) -> Content:
    lower, best, upper = range_
    return Content("PROVIDED", target, target, lower, upper, best, ())


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ((9, 11, 16), (10, 12, 14)),
        ((9, 12, 17), (9, 12, 17)),
        # One end that stays while the other one moves past it would be a range of nothing.
        ((8, 8, 9), (8, 8, 9)),
        ((None, None, None), (None, None, None)),
    ],
)
def test_a_range_stands_as_a_whole_until_a_part_of_it_has_moved(
    now: tuple[int | None, ...], said: tuple[int | None, ...]
) -> None:
    assert settled(content(10, 12, 14), content(*now)) == content(*said)
    assert settled(None, content(*now)) == content(*now)
    assert settled(content(None, None, None), content(*now)) == content(*now)


@pytest.mark.parametrize(
    ("now", "target", "said"),
    [
        ((9, 12, 16), 9, (9, 12, 16)),
        ((10, 12, 15), 15, (10, 12, 15)),
        # It was said that 14 is as good, and it stands while no end has moved by much, as it does for any other size.
        ((10, 12, 13), 14, (10, 12, 14)),
        ((10, 12, 13), 15, (10, 12, 14)),
    ],
)
def test_a_target_that_is_as_good_as_the_best_is_not_left_outside_of_the_range_that_stands(
    now: tuple[int, int, int], target: int, said: tuple[int, int, int]
) -> None:
    assert settled(content(10, 12, 14, target=target), content(*now, target=target)) == content(*said, target=target)
