"""Makes the next trial of a session."""

from __future__ import annotations

import numpy as np

from sluice.tuning.methods.methods import ask
from sluice.tuning.methods.question import Question, Tried
from sluice.tuning.objective.outcome import losses
from sluice.tuning.session.confirm import is_default
from sluice.tuning.session.session import Phase, Purpose, Session, Trial
from sluice.tuning.space import Configuration, Point


def next_trial(session: Session, request_id: str, now_ms: int) -> Trial | None:
    """The next trial; None: the session must wait for the outcome of a trial in flight."""
    plan, candidate = session.plan, None
    if session.phase is Phase.SEARCHING:
        number = len(session.searched)
        if number > plan.budget or (session.only_failed and session.flying):
            return None
        purpose = Purpose.SEARCH
        point, configuration = _search(session, number)
    else:
        best = session.best
        if best is None:
            return None
        candidate = best.number
        default = is_default(sum(trial.of == candidate for trial in session.trials))
        purpose = Purpose.DEFAULT if default else Purpose.WINNER
        configuration = plan.space.default if default else best.configuration
        point = plan.space.point(configuration)
    return Trial(
        number=len(session.trials),
        purpose=purpose,
        configuration=configuration,
        point=tuple(map(float, point)),
        request_id=request_id,
        asked_ms=now_ms,
        due_ms=now_ms + plan.patience_ms,
        of=candidate,
    )


def _search(session: Session, number: int) -> tuple[Point, Configuration]:
    plan = session.plan
    if number == 0:
        return plan.space.default_point, plan.space.default
    if number <= len(plan.first):
        return plan.space.point(plan.first[number - 1]), plan.first[number - 1]
    return ask(plan.method, question(session, number))


def question(session: Session, number: int) -> Question:
    """The question to the method for trial `number`: all outcomes of the search so far, in the order of their
    reports."""
    searched = [(trial.place, trial, trial.outcome) for trial in session.searched if trial.place is not None]
    searched.sort(key=lambda row: row[0] or 0)
    lost = losses([outcome for _, _, outcome in searched if outcome is not None])
    return Question(
        space=session.plan.space,
        seed=session.plan.seed,
        budget=session.plan.budget,
        number=number,
        reported=tuple(
            Tried(trial.number, np.array(trial.point), loss) for (_, trial, _), loss in zip(searched, lost, strict=True)
        ),
        flying=tuple(
            (trial.number, np.array(trial.point)) for trial in session.flying if trial.purpose is Purpose.SEARCH
        ),
    )
