"""What a case has to show to count, by hand; and that the committed ones do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.decision.premises import Case, begins, best_sizes, case, oracle
from bench.decision.premises_race import NAMES, STEADY, interval
from bench.racing import drive
from bench.scenarios import scenario
from testbed.single.capacity import throughput
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


def of_cores(contention, crosstalk, wait_ms, **dependency):
    """Throughput with 2 and with 4 cores, each (120,), of a service of 2 ms of CPU."""
    service = {"cores": 2, "compute_ms": 2, "wait_ms": wait_ms, "threads": 10}
    slowing = {"contention": contention, "crosstalk": crosstalk}
    made = MADE.model_dump() | {"service": service | slowing, "dependency": dependency, "events": []}
    scenario = Scenario.model_validate(made | {"load": [[0.0, 1.0]]})
    return throughput(scenario, 120, 2.0), throughput(scenario, 120, 4.0)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 0.1), st.floats(0.0003, 0.02), st.floats(0, 16))
def test_twice_the_cores_at_most_double_the_best_size(contention, crosstalk, wait_ms):
    """Without a callee twice the threads keep twice the cores as busy, and slow each other more."""
    two, four = of_cores(contention, crosstalk, wait_ms)
    assert four.argmax() + 1 <= 2 * (two.argmax() + 1)


def test_a_callee_of_one_slot_trebles_it_and_it_is_worth_nothing():
    """0.64 ms in one slot, with which 4 cores are about as busy as it: 8 and then 24, and 11 has 0.95 of both."""
    two, four = of_cores(0.005, 0.0003, 0.0, slots=1, ms=0.64)
    assert (two.argmax() + 1, four.argmax() + 1) == (8, 24)
    assert min(two[10] / two.max(), four[10] / four.max()) > 0.95


@pytest.mark.long
@pytest.mark.parametrize("name", [*NAMES, *STEADY])
def test_the_cases_that_are_raced_count(name):
    assert case(scenario(name), seeds=(11,)).counts is (name in NAMES)
