"""What makes an answer a new one."""

import pytest

from sluice.control.answer import Content, settled


def content(*range_: int | None) -> Content:
    lower, best, upper = range_
    return Content("PROVIDED", 12, 12, lower, upper, best, ())


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
