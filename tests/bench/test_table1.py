"""Table 1: truth, errors and cells on numbers worked out by hand, and one cell of each kind from a short run."""

from itertools import pairwise

import pytest

from bench.belief import best_size
from bench.profiled import PROFILED, Observer, pool_of
from bench.table1 import LOOPED, Answers, _met, _sizes, ask, percent, regret, sized, verdict
from bench.truth import Truth, measured
from testbed.presets.shop import CART_THREADS, shop

# Best 12; 10 loses 0.5 %, 8 loses 10 %, 14 nothing, 20 loses 20 %.
TRUTH = Truth({8: 90.0, 10: 99.5, 12: 100.0, 14: 100.0, 20: 80.0})
CATALOGUE = PROFILED[1]


def test_the_best_is_the_smallest_of_the_highest_and_the_plateau_loses_under_1_percent() -> None:
    assert TRUTH.best == 12
    assert TRUTH.plateau == (10, 14)
    assert Truth({5: 1.0}).plateau == (5, 5)


def test_a_dip_ends_the_plateau() -> None:
    assert Truth({4: 100.0, 6: 90.0, 8: 100.0, 10: 99.9}).plateau == (4, 4)


def test_regret_lies_on_a_line_between_measured_sizes() -> None:
    assert TRUTH.regret(17) == pytest.approx(0.10)
    assert TRUTH.regret(8) == pytest.approx(0.10)
    assert TRUTH.regret(12) == 0


def test_errors_count_from_the_best_and_from_the_plateau() -> None:
    """|9 - 12| / 12 = 25 %; from 10, the plateau's lower end, it is 1 / 12."""
    assert TRUTH.error(9) == pytest.approx(0.25)
    assert TRUTH.error_off_plateau(9) == pytest.approx(1 / 12)
    assert TRUTH.error_off_plateau(11) == 0
    assert TRUTH.error_off_plateau(20) == pytest.approx(0.5)


def test_cells() -> None:
    answers = Answers((12, 9), asked=3)
    assert percent(answers.mean(TRUTH.error)) == "12.50"
    assert percent(answers.worst(TRUTH.error)) == "25.00"
    assert regret(TRUTH, Answers((8, 12), 2)) == "5.00, 10.00"
    assert _sizes(answers) == "9 to 12 (2 of 3)"
    nothing = Answers((), 3)
    assert (percent(nothing.mean(TRUTH.error)), regret(TRUTH, nothing)) == ("-", "-")
    assert _sizes(nothing) == "none (0 of 3)"
    assert (_met(0.03, 0.03), _met(0.031, 0.03), _met(None, 0.03)) == ("yes", "no", "no")


def test_bars_are_judged_at_100_ms_and_the_model_s_window() -> None:
    right, wrong = Answers((12,), 1), Answers((8,), 1)
    results = {(LOOPED, 60, "100"): right, ("scg", 180, "100"): right, ("scg-top", 180, "100"): wrong}
    rows = verdict(CATALOGUE, TRUTH, results)
    assert [row.split(" | ")[-1] for row in rows] == ["yes |"] * 4 + ["no |"] * 2
    assert f"{LOOPED}, 60 s: MAPE below 5.33 % | 0.00 %" in rows[0]
    assert "scg-top, 180 s: MAPE below 5.33 % | 33.33 %" in rows[4]


def test_the_whole_curve_is_seen_in_a_minute() -> None:
    """What the presets' own load does not show: many buckets on either side of the optimum (see `bench.profiled`)."""
    observer = Observer.of(CATALOGUE, 50, 3)
    observer.simulation.run_until(70)
    samples = observer.samples(60, 100)
    assert samples is not None
    assert (samples.concurrency < 10).sum() > 100
    assert ((samples.concurrency > 20) & (samples.concurrency < 45)).sum() > 20
    assert observer.interval(60).ms in (20, 50, 100)
    state, best = best_size(observer.windows(60, 100))
    assert state in ("PROVIDED", "LEARNING", "UNSATURATED")
    assert best is not None
    assert 8 <= best <= 24


@pytest.mark.timeout(300)
def test_the_loop_shrinks_cart_s_threads() -> None:
    course = sized(shop(), CART_THREADS, 150.0, 71.0, 1)
    assert [period.at_s for period in course] == list(range(1, 72))
    assert course[0].current == 64
    assert min(period.current for period in course) <= 20
    assert all(2 * later.current >= period.current for period, later in pairwise(course)), "the actuator's step"


@pytest.mark.timeout(300)
def test_truth_of_a_short_run_has_its_best_inside() -> None:
    truth = measured(CATALOGUE, pool_of(CATALOGUE), (6, 16, 50), (1,), seconds=36)
    assert truth.best == 16
    assert truth.regret(6) > 0.3
    assert truth.regret(50) > 0.2


@pytest.mark.timeout(600)
def test_every_model_is_asked_at_every_interval() -> None:
    result = ask(PROFILED[0], seeds=(11,))
    assert {answers.asked for (_, window, _), answers in result.items() if window == 180} == {3}
    assert {answers.asked for (_, window, _), answers in result.items() if window == 60} == {9}
    assert len(result) == 4 * 2 * 7
    for model, window, least in (("belief", 60, 8), ("scg-top", 180, 9)):
        assert len(result[model, window, "100"].targets) == result[model, window, "100"].asked
        assert all(least <= size <= 17 for size in result[model, window, "100"].targets)
