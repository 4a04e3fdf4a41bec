"""The newest observation is read once in a window."""

from __future__ import annotations

import pytest

from sluice.subsets.observed import ObservedApplication
from sluice.subsets.recent import RecentObservation


class Counting:
    """Numbers its readings by newest_s; raises `problem`."""

    def __init__(self) -> None:
        self.readings = 0
        self.problem: Exception | None = None

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication:
        if self.problem is not None:
            raise self.problem
        self.readings += 1
        return ObservedApplication(newest_s=self.readings)


def test_steps_within_a_window_share_a_reading() -> None:
    source = Counting()
    recent = RecentObservation()
    at_ms = (0, 250, 9_999, 10_000, 19_999, 20_000)
    assert [recent.observed(source, at, 300e3).newest_s for at in at_ms] == [1, 1, 1, 2, 2, 3]


def test_another_source_is_read() -> None:
    one, other, recent = Counting(), Counting(), RecentObservation()
    assert recent.observed(one, 0, 300e3).newest_s == 1
    recent.observed(other, 1, 300e3)
    assert other.readings == 1


def test_another_window_and_a_clock_that_was_set_back_read_again() -> None:
    source = Counting()
    recent = RecentObservation()
    assert recent.observed(source, 5_000, 300e3).newest_s == 1
    assert recent.observed(source, 5_000, 600e3).newest_s == 2
    assert recent.observed(source, 4_999, 600e3).newest_s == 3


def test_an_error_is_not_kept() -> None:
    source = Counting()
    recent = RecentObservation()
    source.problem = ConnectionError("away")
    with pytest.raises(ConnectionError):
        recent.observed(source, 0, 300e3)
    source.problem = None
    assert recent.observed(source, 1, 300e3).newest_s == 1
    source.problem = ConnectionError("away")
    assert recent.observed(source, 9_000, 300e3).newest_s == 1, "a reading that is young enough"
    with pytest.raises(ConnectionError):
        recent.observed(source, 10_001, 300e3)
