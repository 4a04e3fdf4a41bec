"""A session under test, and a measurer that tells it."""

from __future__ import annotations

from collections.abc import Callable

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.objective import Objective
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Ask, Effect, Handed, Tell
from sluice.tuning.session.session import Phase, Plan, Session, Trial
from sluice.tuning.session.step import OPEN, step
from sluice_kit.decide.spaces import MIXED, mixed_loss

PLAN = Plan("first", "shop", MIXED, Objective(((Metric.P95, 1.0),)), method="dds", seed=7, budget=6, pairs=2)


def opened(plan: Plan = PLAN) -> Session:
    session = create(plan, (), 1_000)
    assert isinstance(session, Session), session
    return session


def handed(effects: tuple[Effect, ...]) -> list[Trial]:
    return [effect.trial for effect in effects if isinstance(effect, Handed)]


def good(trial: Trial) -> Outcome:
    return Outcome(TrialVerdict.GOOD, 100.0 + mixed_loss(trial.configuration))


def run(session: Session, outcome: Callable[[Trial], Outcome] = good, until: Phase | None = None) -> Session:
    """Asks and tells one by one until the session ends, or is in the phase `until`."""
    now_ms = session.now_ms
    for count in range(200):
        if session.phase not in OPEN or session.phase is until:
            return session
        session, effects = step(session, Ask(1, f"call {now_ms} {count}"), now_ms + 1_000)
        (trial,) = handed(effects)
        session, _ = step(session, Tell(trial.number, outcome(trial)), now_ms + 2_000)
        now_ms += 2_000
    raise AssertionError("the session does not end")
