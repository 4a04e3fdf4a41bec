"""Explains a session from its trials, as a record: an ExplainSessionResponse without the session."""

from __future__ import annotations

from sluice.tuning.session.picture import effects, improvements
from sluice.tuning.session.session import Session
from sluice.tuning.space.message import write_configuration
from sluice.tuning.v1 import tuning_service_pb2


def explanation(session: Session) -> tuning_service_pb2.ExplainSessionResponse:
    answer, space = tuning_service_pb2.ExplainSessionResponse, session.plan.space
    winner = session.best.configuration if session.best is not None else space.default
    changed = {name: value for name, value in winner.items() if space.default.get(name) != value}
    return answer(
        recommended=write_configuration(session.recommended, space),
        improvements=[
            answer.Improvement(trial=improvement.trial, value=improvement.value, told=improvement.reported)
            for improvement in improvements(session)
        ],
        effects=[
            answer.Effect(
                parameter=effect.parameter, strength=effect.strength, chance=effect.chance, trials=effect.trials
            )
            for effect in effects(session)
        ],
        changed=write_configuration(changed, space).settings,
    )
