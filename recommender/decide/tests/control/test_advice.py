"""Basis and action of each kind of answer."""

import pytest

from sluice.control.advice import advice

STATES = ("PROVIDED", "GUARDED", "UNSATURATED", "LEARNING", "NO_DATA", "STALE", "PAUSED")


@pytest.mark.parametrize(
    ("state", "codes", "expected"),
    [
        ("PROVIDED", ["TOP"], ("CURVE", "APPLY")),
        ("PROVIDED", ["TOP", "KEPT"], ("HELD", "APPLY")),  # a curve's size that lost before
        ("PROVIDED", ["WENT_BACK"], ("REVERT", "APPLY")),
        ("GUARDED", ["TOP", "MAX_STEP"], ("CURVE", "APPLY")),
        ("UNSATURATED", ["KEPT"], ("HELD", "APPLY")),
        ("UNSATURATED", ["EXPLORE"], ("PROBE", "APPLY")),
        ("UNSATURATED", ["EXPLORE_DOWN"], ("PROBE", "APPLY")),
        ("UNSATURATED", ["WENT_BACK"], ("REVERT", "APPLY")),
        ("LEARNING", ["EXPLORE"], ("PROBE", "APPLY")),
        ("LEARNING", ["EXPLORE_DOWN"], ("PROBE", "APPLY")),
        ("LEARNING", ["WENT_BACK"], ("REVERT", "APPLY")),
        ("LEARNING", ["SCALED", "REMEMBERED"], ("MEMORY", "APPLY")),
        ("LEARNING", ["SCALED", "REMEMBERED_SCALED"], ("MEMORY", "APPLY")),
        ("LEARNING", ["SCALED", "CARRIED_OVER"], ("CARRIED", "APPLY")),
        ("LEARNING", ["HELD"], ("HELD", "HOLD")),
        ("LEARNING", ["KEPT"], ("HELD", "HOLD")),
        ("LEARNING", [], ("HELD", "HOLD")),
        ("NO_DATA", ["REMEMBERED"], ("MEMORY", "APPLY")),
        ("NO_DATA", ["HELD"], ("HELD", "HOLD")),
        ("STALE", ["LEASE_OVER"], ("HELD", "HOLD")),
        ("PAUSED", ["PAUSED"], ("OPERATOR", "HOLD")),
        ("PAUSED", ["PAUSED", "EXPLORE"], ("OPERATOR", "HOLD")),
    ],
)
def test_with_a_target(state: str, codes: list[str], expected: tuple[str, str]) -> None:
    assert advice(state, 12, codes) == expected


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("code", ["", "EXPLORE", "REMEMBERED"])
def test_without_a_target_nothing_is_applied(state: str, code: str) -> None:
    basis = "OPERATOR" if state == "PAUSED" else "HELD"
    assert advice(state, None, [code]) == (basis, "HOLD")


@pytest.mark.parametrize(
    ("codes", "expected"),
    [(["TOP"], ("CURVE", "APPLY")), (["REMEMBERED"], ("MEMORY", "HOLD")), (["WENT_BACK"], ("REVERT", "HOLD"))],
)
def test_an_unlimited_pool_is_given_its_first_size_by_a_curve_alone(
    codes: list[str], expected: tuple[str, str]
) -> None:
    assert advice("PROVIDED", 12, codes, unbounded=True) == expected
