"""Figures, worths and the rules on them, with numbers worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tuning.objective.block import Block, Metric, counts_of, figures
from sluice.tuning.objective.enough import TrialLength, lacking
from sluice.tuning.objective.guard import tripped
from sluice.tuning.objective.objective import Objective, TuningSlo, least_completions, worth
from sluice.tuning.objective.racing import hopeless

P95 = Objective(((Metric.P95, 1.0),))


def index(ms: float) -> int:
    """The latency index of a duration."""
    return math.ceil(64 * math.log2(ms * 1e6)) - 1


def blocks(count: int, *latencies_ms: float, errors: int = 0, cpu_s: float | None = None) -> list[Block]:
    """So many blocks of 1 s with these latencies each."""
    found: dict[int, int] = {}
    for latency_ms in latencies_ms:
        found[index(latency_ms)] = found.get(index(latency_ms), 0) + 1
    return [Block(1.0, found, errors, cpu_s)] * count


def test_figures_of_several_blocks() -> None:
    """Two blocks of 1 s, 20 requests each: 19 of 100 ms, one of 400; one error and 0.21 s of CPU time each."""
    measured_blocks = blocks(2, *[100.0] * 19, 400.0, errors=1, cpu_s=0.21)
    by_metric = figures(counts_of(measured_blocks), np.ones((1, 2)), threshold_ms=250.0)
    values = {metric: float(value[0]) for metric, value in by_metric.items()}
    assert values == {
        Metric.MEAN: pytest.approx(115.0, rel=0.006),  # (19 x 100 + 400) / 20
        Metric.P50: pytest.approx(100.0, rel=0.011),
        Metric.P95: pytest.approx(100.0, rel=0.011),  # the 38th of 40
        Metric.P99: pytest.approx(400.0, rel=0.011),
        Metric.GOODPUT: 19.0,  # 38 in 2 s
        Metric.ERRORS: pytest.approx(2 / 42),
        Metric.CPU: pytest.approx(10.0),  # 420 ms over 42 requests
    }


def test_a_linear_combination_and_what_an_slo_is_passed_by() -> None:
    """0.5 of goodput less is as bad as 1 ms of p95: 100 - 0.5 x 19 = 90.5; p99 of 400 passes 320 by a quarter."""
    objective = Objective(
        ((Metric.P95, 1.0), (Metric.GOODPUT, -0.5)),
        (TuningSlo(Metric.P99, 320.0), TuningSlo(Metric.GOODPUT, 20.0)),
        threshold_ms=250.0,
    )
    stretch = worth(blocks(10, *[100.0] * 19, 400.0), objective)
    assert stretch.value == pytest.approx(90.5, rel=0.012)
    assert (stretch.lower, stretch.upper) == (stretch.value, stretch.value)  # all blocks alike
    assert stretch.excess == pytest.approx(0.25, abs=0.015)


def test_what_is_not_measured_is_not_known() -> None:
    assert math.isnan(worth(blocks(5), P95).value)
    assert math.isnan(worth(blocks(5, 100.0), Objective(((Metric.CPU, 1.0),))).value)
    assert math.isnan(worth(blocks(5), Objective(((Metric.GOODPUT, -1.0),), (TuningSlo(Metric.P99, 1.0),))).excess)
    few = worth(blocks(4, 100.0), P95)
    assert (few.lower, few.upper) == (-math.inf, math.inf)


def test_the_interval_of_a_mean_is_that_of_the_central_limit_theorem() -> None:
    """100 blocks, half of 90 ms and half of 110: the mean's deviation is 10 / sqrt(100) = 1 ms; +- 1.96."""
    stretch = worth(blocks(50, 90.0) + blocks(50, 110.0), Objective(((Metric.MEAN, 1.0),)))
    assert (stretch.lower, stretch.upper) == (pytest.approx(98.0, abs=0.9), pytest.approx(102.0, abs=0.9))


def test_completions_that_a_quantile_needs() -> None:
    assert least_completions(Objective(((Metric.P50, 1.0),))) == 4  # 3.84
    assert least_completions(P95) == 73  # 3.8416 x 19 = 72.99
    assert (
        least_completions(Objective(((Metric.MEAN, 1.0),), (TuningSlo(Metric.P99, 1.0),))) == 381
    )  # 3.8416 x 99 = 380.3
    assert least_completions(Objective(((Metric.MEAN, 1.0),))) == 1


WINDOW = TrialLength(0.0, least_s=10.0, most_s=60.0, precision=0.1)


def test_a_trial_runs_until_its_interval_is_narrow() -> None:
    few = lacking(blocks(10, 100.0, 100.0), P95, WINDOW)
    assert few is not None
    assert few.seconds == pytest.approx(26.5)  # 20 of 73 in 10 s
    short = lacking(blocks(4, *[100.0] * 20), P95, WINDOW)
    assert short is not None
    assert short.seconds == 6.0
    assert lacking(blocks(10, *[100.0] * 20), P95, WINDOW) is None
    nothing = lacking(blocks(60), P95, WINDOW)
    assert nothing is not None
    assert nothing.seconds == math.inf


def test_four_times_as_long_for_half_the_interval() -> None:
    mean = Objective(((Metric.MEAN, 1.0),))
    measured_blocks = blocks(8, 50.0) + blocks(8, 150.0)  # deviation 50 / 4 = 12.5, half width 24.5 of 100
    wide = lacking(measured_blocks, mean, TrialLength(0.0, 10.0, 600.0, 0.12))
    assert wide is not None
    assert wide.seconds == pytest.approx(16 * 3.17, rel=0.2)  # (24.5 / 12)^2 - 1
    assert lacking(measured_blocks, mean, TrialLength(0.0, 10.0, 16.0, 0.12)) is None  # as long as it may


def test_a_trial_is_given_up_when_its_interval_is_above_the_bests() -> None:
    """Mean 205 of 10 blocks, deviation 5 / sqrt(10) = 1.6: at 99 %, one-sided, at least 205 - 2.33 x 1.6 = 201.3."""
    mean = Objective(((Metric.MEAN, 1.0),))
    measured_blocks = blocks(5, 200.0) + blocks(5, 210.0)
    assert hopeless(measured_blocks, mean, best_upper=198.0, looks=5) is not None
    assert hopeless(measured_blocks, mean, best_upper=203.0, looks=5) is None
    assert hopeless(measured_blocks[:4], mean, best_upper=150.0, looks=5) is None  # too few to tell


@pytest.mark.parametrize(("late", "trips"), [(5, False), (6, True)])
def test_the_guard_trips_on_what_noise_does_not_explain(late: int, trips: bool) -> None:
    """Binomial(100, 0.01): P(>= 5) = 0.0034, P(>= 6) = 0.0005."""
    objective = Objective(((Metric.MEAN, 1.0),), (TuningSlo(Metric.P99, 500.0),))
    measured_blocks = [Block(5.0, {index(100.0): 100 - late, index(900.0): late})]
    assert (tripped(measured_blocks, objective) is not None) is trips


@pytest.mark.parametrize(
    ("slo", "seen", "trips"),
    [
        (TuningSlo(Metric.ERRORS, 0.01), Block(5.0, {index(1.0): 94}, errors=6), True),
        (TuningSlo(Metric.ERRORS, 0.01), Block(5.0, {index(1.0): 95}, errors=5), False),
        (TuningSlo(Metric.ERRORS, 0.0), Block(5.0, {index(1.0): 99}, errors=1), True),
        (TuningSlo(Metric.MEAN, 100.0), Block(5.0, {index(190.0): 20}), False),
        (TuningSlo(Metric.MEAN, 100.0), Block(5.0, {index(210.0): 20}), True),
        (TuningSlo(Metric.MEAN, 100.0), Block(5.0, {index(210.0): 19}), False),
        (TuningSlo(Metric.GOODPUT, 10.0), Block(5.0, {index(1.0): 24}), True),  # 4.8/s, under half
        (TuningSlo(Metric.GOODPUT, 10.0), Block(5.0, {index(1.0): 26}), False),
        (TuningSlo(Metric.P99, 500.0), Block(5.0, {}), True),  # nothing completes
        (TuningSlo(Metric.P99, 500.0), Block(4.0, {}), False),
        (TuningSlo(Metric.CPU, 5.0), Block(5.0, {index(1.0): 100}), False),  # nobody measures it
    ],
)
def test_each_kind_of_slo_is_guarded(slo: TuningSlo, seen: Block, trips: bool) -> None:
    assert (tripped([seen], Objective(((Metric.MEAN, 1.0),), (slo,))) is not None) is trips


@given(st.lists(st.dictionaries(st.integers(600, 2000), st.integers(1, 50), max_size=4), min_size=5, max_size=8))
def test_worth_lies_within_its_interval_and_is_the_same_each_time(given_: list[dict[int, int]]) -> None:
    measured_blocks = [Block(1.0, latencies) for latencies in given_]
    stretch = worth(measured_blocks, Objective(((Metric.MEAN, 1.0),)))
    assert str(stretch) == str(worth(measured_blocks, Objective(((Metric.MEAN, 1.0),))))
    if not math.isnan(stretch.value):
        assert stretch.lower <= stretch.value * 1.0001
        assert stretch.upper >= stretch.value * 0.9999
