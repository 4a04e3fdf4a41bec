"""Weights that were undone rest: longer each time."""

from __future__ import annotations

from sluice.subsets.pace import CALM_S, WeightPace, released, rests, taken_back


def test_steps_in_vain_become_rare() -> None:
    pace, now_s, waits = WeightPace(), 1000.0, []
    for _ in range(4):
        pace = taken_back(pace, now_s, "by the test")
        waits.append(pace.rests_until_s - now_s)
        now_s = pace.rests_until_s + 70
    assert waits == [600.0, 1200.0, 2400.0, 2400.0]
    assert pace.step == 0.5 / 16


def test_after_a_calm_time_a_rest_is_short_again() -> None:
    pace = taken_back(taken_back(WeightPace(), 1000.0, ""), 2000.0, "")
    assert pace.undone == 2
    later = pace.rests_until_s + CALM_S
    again = taken_back(pace, later, "")
    assert again.rests_until_s == later + 600.0
    assert rests(again, later + 599.0)
    assert not rests(again, later + 600.0)


def test_a_pace_that_is_released_is_that_of_before_the_change_was_undone() -> None:
    pace = taken_back(WeightPace(), 1000.0, "by the test")
    again = released(pace, 1070.0)
    assert (again.step, again.undone) == (0.5, 0)
    assert not rests(again, 1070.0)
    assert again.reverted == "by the test", "the note stays until weights change"
