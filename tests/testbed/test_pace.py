import pytest

from testbed.pace import Pace

S = 1_000_000_000


def test_keeps_the_speed():
    pace = Pace(2.0, 100 * S)
    assert pace.due(103 * S, 5.9) == pytest.approx(6.0)
    assert pace.lag_s == pytest.approx(0.05)
    assert pace.wall_ns(3 * S) == 101_500_000_000
    assert pace.slips == 0


def test_gives_up_what_it_cannot_make_good():
    pace = Pace(2.0, 100 * S)
    assert pace.due(103 * S, 2.0) == 2.0
    assert (pace.slips, pace.slipped_s) == (1, pytest.approx(2.0))
    # What lies before the slip keeps its time, what comes after is later.
    assert [pace.wall_ns(round(v * S)) / S for v in (1, 2, 3)] == pytest.approx([100.5, 103.0, 103.5])
    assert pace.due(104 * S, 2.0) == pytest.approx(4.0)


def test_a_clock_that_steps_back_does_not_stop_the_run():
    pace = Pace(1.0, 100 * S)
    assert pace.due(110 * S, 9.9) == pytest.approx(10.0)
    assert pace.due(50 * S, 10.0) == 10.0
    assert pace.due(51 * S, 10.0) == pytest.approx(11.0)
    assert pace.slips == 1


def test_time_never_runs_backwards_by_a_little():
    pace = Pace(1.0, 100 * S)
    assert pace.due(round(100.5 * S), 0.6) == 0.6


def test_a_speed_of_nothing_is_refused():
    with pytest.raises(ValueError, match="must be > 0"):
        Pace(0.0, 0)
