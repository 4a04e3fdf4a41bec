"""The view of a session for people: how it converged, and which parameters matter according to its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.tuning.methods.question import Question
from sluice.tuning.objective.outcome import TrialVerdict
from sluice.tuning.session.asking import question
from sluice.tuning.session.session import Session, value
from sluice.tuning.space import Parameter, Value

# The least number of trials with a value of a parameter to compute its effect.
LEAST = 5


@dataclass(frozen=True)
class Improvement:
    """A good trial that was better than all reported before it. `reported`: how many trials of the search were reported
    by then, this one included."""

    trial: int
    value: float
    reported: int


@dataclass(frozen=True)
class Effect:
    """The effect of one parameter, from the search.

    strength  Spearman's rank correlation of value and loss, -1..1; negative: larger values are better. For a category
              or boolean: the correlation ratio of the ranks, 0..1
    chance    the probability of such a strength without any effect, 0..1; of 30 parameters one or two are below 0.05
              by chance
    """

    parameter: str
    strength: float
    chance: float
    trials: int


def improvements(session: Session) -> tuple[Improvement, ...]:
    better: list[Improvement] = []
    searched = sorted(
        (trial for trial in session.searched if trial.place is not None), key=lambda trial: trial.place or 0
    )
    for count, trial in enumerate(searched, start=1):
        is_good = trial.outcome is not None and trial.outcome.verdict is TrialVerdict.GOOD
        if is_good and (not better or value(trial) < better[-1].value):
            better.append(Improvement(trial.number, value(trial), count))
    return tuple(better)


def effects(session: Session) -> tuple[Effect, ...]:
    """The effects of all parameters with enough trials, the least likely by chance first.

    They are marginal: two parameters that matter only together do not show. Methods try many points near good ones,
    which weakens the effects.
    """
    questioned = question(session, len(session.searched))
    effects = (_effect(parameter, session, questioned) for parameter in session.plan.space.parameters)
    return tuple(sorted((effect for effect in effects if effect), key=lambda effect: effect.chance))


def _effect(parameter: Parameter, session: Session, question: Question) -> Effect | None:
    values, losses = [], []
    for tried in question.reported:
        configuration = session.trials[tried.number].configuration
        if parameter.name in configuration:
            values.append(configuration[parameter.name])
            losses.append(tried.loss)
    if len(values) < LEAST or len(set(values)) < 2 or len(set(losses)) < 2:
        return None
    strength, chance = (_spearman if parameter.kind.ordered else _ratio)(values, losses)
    return Effect(parameter.name, strength, chance, len(values))


def _spearman(values: Sequence[Value], losses: Sequence[float]) -> tuple[float, float]:
    from scipy.stats import spearmanr

    correlation = spearmanr([float(value) for value in values], losses)
    return float(correlation.statistic), float(correlation.pvalue)


def _ratio(values: Sequence[Value], losses: Sequence[float]) -> tuple[float, float]:
    """Square root of the share of the ranks' variance between choices, and the probability by Kruskal and Wallis."""
    from scipy.stats import kruskal, rankdata

    ranks = rankdata(losses)
    groups = [ranks[np.array([value == choice for value in values])] for choice in dict.fromkeys(values)]
    between = sum(len(group) * (group.mean() - ranks.mean()) ** 2 for group in groups)
    return float(np.sqrt(between / ((ranks - ranks.mean()) ** 2).sum())), float(kruskal(*groups).pvalue)
