"""What a case has to show to count, by hand; and that the committed ones do."""

import numpy as np
import pytest

from bench.decision.premises import Case, begins, best_sizes, case, oracle
from bench.decision.premises_race import NAMES, STEADY, interval
from bench.racing import drive
from bench.scenarios import scenario
from testbed.single.scenario import Scenario

MADE = Scenario.model_validate(
    {
        "name": "made",
        "seconds": 40,
        "slo_ms": 50,
        "users": 10,
        "think_s": 0.1,
        "load": [[0, 1]],
        "service": {"cores": 2, "compute_ms": 5, "threads": 3},
        "events": [{"at_s": 20, "slo_ms": 100}, {"at_s": 20, "wait": 2.0}, {"at_s": 5, "slo_ms": 50}],
    }
)


def test_phases_last_from_event_to_event_once_the_warm_up_is_over():
    assert begins(MADE) == (10, 20, 40)


@pytest.mark.parametrize(("most", "counts"), [(90.0, True), (87.0, False)])
def test_a_case_counts_where_no_held_size_comes_near_the_oracle(most, counts):
    """10 s and 20 s: size 4 has (100 x 10 + 70 x 20) / 30 = 80 a second, size 8 (50 x 10 + 90 x 20) / 30 = 76.7."""
    seen = Case(MADE, begins(MADE), (4, 8), np.array([[100.0, 70.0], [50.0, 90.0]]), most)
    assert seen.best == (4, 8)
    assert seen.of_held == pytest.approx([80, 76.67], abs=0.01)
    assert (seen.fixed, seen.ratio) == (4, pytest.approx(80 / most))
    assert seen.counts is counts


def test_of_equal_sizes_the_smaller_is_the_best():
    assert best_sizes((4, 8, 16), np.array([[1.0, 2.0], [3.0, 5.0], [3.0, 5.0]])) == (8, 8)


def test_the_oracle_changes_its_size_in_the_second_of_the_event():
    assert drive(MADE, oracle(begins(MADE), (4, 8)), 1).history == [(0.0, 4), (20.0, 8)]


def test_an_interval_is_of_students_t():
    assert interval([90, 100, 110]) == "100 ± 25"


def test_the_disk_moves_the_best_size():
    seen = case(scenario("disk_after_cpu"), seeds=(11,))
    assert seen.counts
    assert seen.best[0] > 2 * seen.best[1]


@pytest.mark.long
@pytest.mark.parametrize("name", [*NAMES, *STEADY])
def test_the_cases_that_are_raced_count(name):
    assert case(scenario(name), seeds=(11,)).counts is (name in NAMES)
