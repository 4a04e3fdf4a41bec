"""What is a report that was told before."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.journal import repeats
from sluice.journal.codec import Sender
from sluice.journal.repeats import REMEMBERED, Repeats


def told(request_id: str, by: str = "ann", at_s: int = 0) -> Sender:
    return Sender(request_id, by, at_s * 10**9)


def test_an_id_is_remembered_for_so_many_offsets_since_it_was_told_last() -> None:
    known = Repeats()
    assert not known.report(0, told("a"))
    assert known.report(REMEMBERED, told("a"))
    assert known.report(2 * REMEMBERED, told("a"))
    assert not known.report(3 * REMEMBERED + 1, told("a"))


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.integers(0, 30))
def test_who_begins_within_the_log_says_the_same_as_who_read_all_of_it(ids: list[str], taken: int) -> None:
    before, repeats.REMEMBERED = repeats.REMEMBERED, 5
    try:
        whole, part = Repeats(), Repeats()
        for offset, each in enumerate(ids):
            repeated = whole.report(offset, told(each))
            if offset >= taken - repeats.REMEMBERED:
                again = part.report(offset, told(each))
                assert offset < taken or again == repeated
    finally:
        repeats.REMEMBERED = before


def test_a_size_of_a_report_that_was_told_again_has_another_time_whichever_is_read_first() -> None:
    known = Repeats()
    assert not known.size(told("a", at_s=1))
    known.report(0, told("a", at_s=1))
    assert not known.size(told("a", at_s=1))
    assert known.size(told("a", at_s=2))
    known.report(1, told("a", at_s=2))
    assert known.size(told("a", at_s=2))
    assert not known.size(told("", at_s=2))
