"""What a plan may be, warm starts, and confirmation by numbers."""

import math
from dataclasses import replace

import pytest

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.session.confirm import gain, is_default
from sluice.tuning.session.create import create
from sluice.tuning.session.events import RefusedCommand, Stop
from sluice.tuning.session.session import Plan, Session
from sluice.tuning.session.step import step
from sluice.tuning.session.warm import first
from sluice.tuning.space import Float, Integer, Parameter, Space
from sluice_kit.decide.spaces import MIXED

from .runs import PLAN, opened, run


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (replace(PLAN, name=""), "name: '' is not legal; legal: 1 to 200 characters"),
        (replace(PLAN, budget=0), "budget: 0 is not legal; legal: 1 to 1000"),
        (replace(PLAN, parallel=101), "parallel: 101 is not legal; legal: 1 to 100"),
        (replace(PLAN, pairs=1), "pairs: 1 is not legal; legal: 0, or at least 2 (an interval needs two)"),
        (replace(PLAN, seed=-1), "seed: -1 is not legal; legal: 0 to 4294967295"),
        (replace(PLAN, objective=Objective(())), "objective.minimize: no metric is not legal; legal: at least one"),
        (
            replace(PLAN, objective=Objective(((Metric.GOODPUT, 1.0),))),
            "objective.minimize.goodput_per_s: 1 is not legal; legal: < 0 (more of it is better)",
        ),
        (
            replace(PLAN, objective=Objective(((Metric.P95, math.nan),))),
            "objective.minimize.p95_ms: nan is not legal; legal: finite, not 0",
        ),
        (
            replace(PLAN, objective=Objective(((Metric.P95, 1.0),), (TuningSlo(Metric.ERRORS, 2.0),))),
            "objective.slos.error_share: 2 is not legal; legal: 0 to 1",
        ),
        (replace(PLAN, window=TrialLength(precision=0.0)), "window.precision: 0 is not legal; legal: 0.001 to 1"),
        (replace(PLAN, patience_ms=60_000), "patience_ms: 60000 is shorter than a trial; legal: >= 130000"),
        (replace(PLAN, first=({"threads": 0},)), "first[0].threads: 0 is not legal; legal: 1 to 256, whole"),
    ],
)
def test_a_plan_that_is_not_legal_is_refused_by_field_and_range(plan: Plan, problem: str) -> None:
    refusal = create(plan, (), 0)
    assert isinstance(refusal, RefusedCommand)
    assert problem in refusal.why.splitlines()
    assert refusal.field == refusal.why.partition(":")[0]


def test_an_unknown_method_is_told_which_there_are() -> None:
    refusal = create(replace(PLAN, method="simplex"), (), 0)
    assert isinstance(refusal, RefusedCommand)
    assert "legal: annealing, boosted_trees, cma_es, dds, " in refusal.why


def test_a_session_that_would_not_fit_a_record_is_refused() -> None:
    space = Space(tuple(Parameter(f"p{index}", Integer(0, 9), 0) for index in range(200)))
    refusal = create(replace(PLAN, space=space, budget=1000), (), 0)
    assert isinstance(refusal, RefusedCommand)
    assert "legal: trials x parameters <= 20000" in refusal.why


def test_two_sessions_on_one_target_are_refused_until_the_first_ended() -> None:
    running = opened()
    second = create(replace(PLAN, name="second"), (running,), 0)
    assert isinstance(second, RefusedCommand)
    assert second.field == "target"
    assert isinstance(create(replace(PLAN, name="second", target="other"), (running,), 0), Session)
    stopped, _ = step(running, Stop(), 2_000)
    assert isinstance(create(replace(PLAN, name="second"), (stopped,), 0), Session)
    same = create(PLAN, (stopped,), 0)
    assert isinstance(same, RefusedCommand)
    assert same.code == "ALREADY_EXISTS"


def test_a_warm_start_takes_what_still_fits() -> None:
    earlier = run(opened())
    assert earlier.best is not None
    seeds = first(earlier, MIXED)
    assert seeds[0] == earlier.best.configuration
    assert len(seeds) == 3
    changed = Space((Parameter("cache_mb", Float(1.0, 1000.0, log=True), 10.0), Parameter("new", Integer(1, 5), 2)))
    for configuration in first(earlier, changed):
        assert changed.problems(configuration) == []
        assert configuration["new"] == 2
    assert first(opened(), MIXED) == ()


def test_the_order_of_confirmation_takes_a_drift_out() -> None:
    assert [is_default(place) for place in range(8)] == [True, False, False, True, True, False, False, True]
    # Both are alike, and each trial is 1 slower than the one before: D 100, W 101, W 102, D 103.
    estimate = gain([(100.0, 101.0), (103.0, 102.0)])
    assert estimate is not None
    assert estimate.share == pytest.approx(0.0, abs=1e-3)


def test_the_gain_and_its_interval() -> None:
    sure = gain([(100.0, 80.0), (110.0, 88.0), (90.0, 72.0)])
    assert sure is not None
    assert (sure.share, sure.lower, sure.upper, sure.pairs) == (pytest.approx(0.2),) * 3 + (3,)
    unsure = gain([(100.0, 80.0), (100.0, 90.0)])
    assert unsure is not None
    assert (unsure.share, unsure.lower, unsure.upper) == (
        pytest.approx(0.1515, abs=1e-4),
        pytest.approx(-0.793, abs=2e-3),
        pytest.approx(0.599, abs=2e-3),
    )
    # Not all positive: differences 2 and 4 of a mean of 10 in size: 0.3, half width 12.706 x 0.1.
    goodput = gain([(-10.0, -12.0), (-10.0, -14.0)])
    assert goodput is not None
    assert (goodput.share, goodput.lower) == (pytest.approx(0.3), pytest.approx(0.3 - 1.2706, abs=1e-3))
    assert gain([(1.0, 1.0)]) is None
    assert gain([(0.0, 1.0), (0.0, 1.0)]) is None
