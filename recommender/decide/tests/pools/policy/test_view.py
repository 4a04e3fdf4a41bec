"""Which choice is put before the table: by hand."""

import pytest

from sluice.fast.worth import LEAST_GAIN, SURE_BY
from sluice.pools.policy.callers import LOOKS_AGAIN_S
from sluice.pools.policy.choice_rules import again, before_the_look, consistent, further, least_left
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts
from sluice.pools.policy.trust import Trust
from sluice.pools.policy.worth import Choice, Outlook


def outlook(best: int, gain: float = 0.1, sure_by: float = 3.0) -> Outlook:
    return Outlook(best, best, best, 0.1, gain=gain, sure_by=sure_by)


@pytest.mark.parametrize(
    ("of", "within", "size"),
    [
        # 8 does 10 % more than 32, and one change leads to 16; 200 likewise, and to 64.
        (outlook(8), (16, 64), 16),
        (outlook(200), (16, 64), 64),
        # The best is within reach: it is chosen or not by itself.
        (outlook(16), (16, 64), None),
        (outlook(8, gain=LEAST_GAIN), (16, 64), None),
        (outlook(8, sure_by=SURE_BY - 0.01), (16, 64), None),
        (outlook(8, sure_by=SURE_BY), (16, 64), 16),
        # It may not be shrunk, or there is no size to go to.
        (outlook(8), (32, 64), None),
        (outlook(8), (40, 30), None),
    ],
)
def test_towards_what_is_surely_better_and_out_of_reach(of: Outlook, within: tuple[int, int], size: int | None) -> None:
    found = further(of, 32, within)
    assert (found.size if found else None) == size
    if found:
        assert found == Choice(size, of.gain, of.sure_by, look=False)


@pytest.mark.parametrize(
    ("size", "best", "look", "stands"),
    [(16, 8, False, True), (64, 8, False, False), (64, 8, True, True), (16, 32, False, False)],
)
def test_a_size_that_is_called_better_lies_towards_the_best(size: int, best: int, look: bool, stands: bool) -> None:
    choice = Choice(size, 0.1, 3.0, look)
    assert consistent(choice, 32, outlook(best)) == (choice if stands else None)


def test_no_choice_is_consistent() -> None:
    assert consistent(None, 32, outlook(8)) is None


@pytest.mark.parametrize(
    ("size", "look", "since_s", "stands"),
    [(36, True, 5.0, False), (36, True, LOOKS_AGAIN_S, True), (36, False, 5.0, True), (38, True, 5.0, True)],
)
def test_a_size_that_was_left_is_not_looked_at_again_within_a_minute(
    size: int, look: bool, since_s: float, stands: bool
) -> None:
    """36 was left for 34, because fewer requests came."""
    choice = Choice(size, 0.02, 0.9, look)
    facts = Facts(current=34, change=Change(36, 34, 0, Basis.REVERT))
    assert again(choice, facts, since_s) == (choice if stands else None)
    assert again(choice, Facts(current=34), since_s) == choice
    assert again(None, facts, since_s) is None
    looks = Facts(current=34, change=Change(36, 34, 0, Basis.PROBE))
    assert again(choice, looks, since_s) == choice


@pytest.mark.parametrize(
    ("current", "basis", "until_ms", "size"),
    [(49, Basis.REVERT, 1, 15), (49, Basis.REVERT, 0, None), (49, Basis.CURVE, 1, None), (25, Basis.REVERT, 1, None)],
)
def test_after_a_look_at_the_operator_s_size_the_pool_may_go_back_at_once(
    current: int, basis: Basis, until_ms: int, size: int | None
) -> None:
    facts = Facts(current=current, change=Change(15, 49, 0, basis), trust=Trust(operator=49, demand_until_ms=until_ms))
    assert before_the_look(facts, current, 0) == size


@pytest.mark.parametrize(
    ("least", "refused", "left"), [(28, True, 24), (28, False, 28), (20, True, 20), (20, False, 20)]
)
def test_a_refused_size_in_force_is_left_whatever_the_busiest_stretch_needs(
    least: int, refused: bool, left: int
) -> None:
    assert least_left(least, 24, refused) == left
