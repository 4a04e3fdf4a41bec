"""Convergence and effects."""

from dataclasses import replace

import pytest

from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.picture import Improvement, effects, improvements
from sluice.tuning.session.session import Trial
from sluice.tuning.space import Boolean, Integer, Parameter, Space

from .runs import PLAN, opened, run

SPACE = Space(
    (
        Parameter("more", Integer(1, 100), 50),
        Parameter("flag", Boolean(), False),
        Parameter("idle", Integer(1, 100), 50),
    )
)


def test_the_best_so_far() -> None:
    values = iter([5.0, None, 7.0, 4.0, 4.0, 2.0, 3.0])

    def outcome(trial: Trial) -> Outcome:
        given = next(values)
        return Outcome(TrialVerdict.FAILED) if given is None else Outcome(TrialVerdict.GOOD, given)

    session = run(opened(replace(PLAN, pairs=0)), outcome)
    assert improvements(session) == (Improvement(0, 5.0, 1), Improvement(3, 4.0, 4), Improvement(5, 2.0, 6))
    assert improvements(opened()) == ()


def test_what_matters_is_seen() -> None:
    def outcome(trial: Trial) -> Outcome:
        loss = 200 - float(trial.configuration["more"]) + (0 if trial.configuration["flag"] else 300)
        return Outcome(TrialVerdict.GOOD, loss)

    plan = replace(PLAN, space=SPACE, method="random_search", budget=40, pairs=0)
    by_parameter = {effect.parameter: effect for effect in effects(run(opened(plan), outcome))}
    assert list(by_parameter)[-1] == "idle"
    assert by_parameter["idle"].chance > 0.05
    assert by_parameter["flag"].strength == pytest.approx(0.87, abs=0.05)  # half and half: the ranks' groups, far apart
    assert by_parameter["flag"].chance < 0.001
    assert by_parameter["more"].strength < -0.2  # more of it is better; half of the ranks are the flag's
    assert by_parameter["more"].trials == 41
    assert effects(opened(plan)) == ()
