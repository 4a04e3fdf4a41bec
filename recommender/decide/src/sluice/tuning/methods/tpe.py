"""Tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011), by Optuna.

Multivariate; trials in flight count as poor ones. Each question rebuilds the study from the record of trials. The first
third of the budget, 3 to 10 trials, is random.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from sluice.tuning.methods.improvement import first_trials
from sluice.tuning.methods.question import Question
from sluice.tuning.space import Category, Float, Integer, Parameter, Point

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


def propose(question: Question) -> Point:
    import optuna
    from optuna.trial import TrialState, create_trial

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = question.space
    laws = {parameter.name: _law(parameter) for parameter in space.parameters}

    def values(point: Point) -> dict[str, object]:
        # Includes parameters without a value: the estimator has one distribution over a fixed set.
        coordinates = zip(space.parameters, np.clip(point, 0.0, 1.0), strict=True)
        return {coordinate.name: coordinate.kind.value(float(unit)) for coordinate, unit in coordinates}

    with warnings.catch_warnings():
        # Optuna marks multivariate and constant_liar as experimental.
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=int(question.generator().integers(2**31)),
            n_startup_trials=first_trials(question.budget),
            multivariate=True,
            constant_liar=True,
        )
    study = optuna.create_study(sampler=sampler)
    for trial in question.reported:
        study.add_trial(create_trial(params=values(trial.point), distributions=laws, value=trial.loss))
    for _, point in question.flying:
        study.add_trial(create_trial(params=values(point), distributions=laws, state=TrialState.RUNNING))
    suggestion = study.ask(laws).params
    return np.array([parameter.kind.unit(suggestion[parameter.name]) for parameter in space.parameters])


def _law(parameter: Parameter) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    match parameter.kind:
        case Integer(low, high, log):
            return IntDistribution(low, high, log=log)
        case Float(low, high, log):
            return FloatDistribution(low, high, log=log)
        case Category(choices):
            return CategoricalDistribution(choices)
        case _:
            return CategoricalDistribution((False, True))
