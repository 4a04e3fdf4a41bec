"""What people see of a session: how it converged, and which parameters its trials say matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.tuning.methods.question import Question
from sluice.tuning.objective.outcome import Verdict
from sluice.tuning.session.asking import question
from sluice.tuning.session.session import Session, value
from sluice.tuning.space import Parameter, Value

# Trials in which a parameter has a value, from which on anything is said of it.
LEAST = 5


@dataclass(frozen=True)
class Improvement:
    """A good trial that was better than all told before it; `told`: how many of the search were told by then, with
    it."""

    trial: int
    value: float
    told: int


@dataclass(frozen=True)
class Effect:
    """What the search says of one parameter.

    strength  Spearman's rank correlation of value and loss, -1..1: negative: more of it is better. Of a category or
              boolean the correlation ratio of the ranks, 0..1
    chance    of so much where there is no effect, 0..1: with 30 parameters one or two are below 0.05 by chance
    """

    parameter: str
    strength: float
    chance: float
    trials: int


def improvements(session: Session) -> tuple[Improvement, ...]:
    found: list[Improvement] = []
    told = sorted((each for each in session.searched if each.place is not None), key=lambda each: each.place or 0)
    for count, trial in enumerate(told, start=1):
        is_good = trial.outcome is not None and trial.outcome.verdict is Verdict.GOOD
        if is_good and (not found or value(trial) < found[-1].value):
            found.append(Improvement(trial.number, value(trial), count))
    return tuple(found)


def effects(session: Session) -> tuple[Effect, ...]:
    """Of all parameters of which something can be said, the least likely by chance first.

    Marginal: two that matter only together do not show. Methods crowd around good points, which weakens what they show.
    """
    asked = question(session, len(session.searched))
    found = (_effect(each, session, asked) for each in session.plan.space.parameters)
    return tuple(sorted((each for each in found if each), key=lambda each: each.chance))


def _effect(parameter: Parameter, session: Session, asked: Question) -> Effect | None:
    values, losses = [], []
    for tried in asked.told:
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

    found = spearmanr([float(each) for each in values], losses)
    return float(found.statistic), float(found.pvalue)


def _ratio(values: Sequence[Value], losses: Sequence[float]) -> tuple[float, float]:
    """Root of the share of the ranks' variance that lies between choices, and the chance by Kruskal and Wallis."""
    from scipy.stats import kruskal, rankdata

    ranks = rankdata(losses)
    groups = [ranks[np.array([each == choice for each in values])] for choice in dict.fromkeys(values)]
    between = sum(len(group) * (group.mean() - ranks.mean()) ** 2 for group in groups)
    return float(np.sqrt(between / ((ranks - ranks.mean()) ** 2).sum())), float(kruskal(*groups).pvalue)
