"""Converts a session to and from its message, `TuningSession` (proto/sluice/tuning/v1/session.proto).

The conversion has no loss: numbers are not rounded. Unknown fields, as of a later version, are ignored.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.message import (
    read_objective,
    read_outcome,
    read_window,
    write_objective,
    write_outcome,
    write_window,
)
from sluice.tuning.objective.outcome import problem
from sluice.tuning.session.confirm import Gain
from sluice.tuning.session.create import problems
from sluice.tuning.session.session import MeasuredRoot, Phase, Plan, Purpose, Session, Trial
from sluice.tuning.space import Space
from sluice.tuning.space.message import read_configuration, read_space, write_configuration, write_space
from sluice.tuning.v1 import session_pb2, trial_pb2

_PHASES = {phase: session_pb2.Phase.Value(f"PHASE_{phase.name}") for phase in Phase}
_PURPOSES = {purpose: trial_pb2.Purpose.Value(f"PURPOSE_{purpose.name}") for purpose in Purpose}


class SessionError(ValueError):
    """A session cannot be read. The message has a line per problem."""


def write(session: Session) -> bytes:
    """The session as bytes of a `TuningSession`."""
    return session_message(session).SerializeToString()


def read(value: bytes) -> Session:
    """Reads a `TuningSession`. SessionError where the bytes are none, or it is not legal."""
    try:
        message = session_pb2.TuningSession.FromString(value)
    except DecodeError as cause:
        raise SessionError(f"read a tuning session: {cause}") from cause
    return read_message(message)


def read_message(message: session_pb2.TuningSession) -> Session:
    """SessionError where the message is not legal."""
    try:
        return _session(message)
    except ValueError as cause:
        raise SessionError(f"read tuning session {message.plan.name!r}: {cause}") from cause


def plan_message(plan: Plan) -> session_pb2.Plan:
    return session_pb2.Plan(
        name=plan.name,
        target=plan.target,
        space=write_space(plan.space),
        objective=write_objective(plan.objective),
        method=plan.method,
        seed=plan.seed,
        budget=plan.budget,
        parallel=plan.parallel,
        pairs=plan.pairs,
        patience_ms=plan.patience_ms,
        window=write_window(plan.window),
        first=[write_configuration(configuration, plan.space) for configuration in plan.first],
        root=None if plan.root is None else session_pb2.Root(service=plan.root.service, operation=plan.root.operation),
    )


def read_plan(message: session_pb2.Plan) -> Plan:
    """Reads a plan. An absent field has its default. ValueError for a field without a meaning. `create.problems` checks
    the rest."""
    default: dict[str, Any] = {field.name: field.default for field in fields(Plan)}
    number = {
        name: getattr(message, name) if message.HasField(name) else default[name]
        for name in ("budget", "parallel", "pairs", "patience_ms")
    }
    return Plan(
        name=message.name,
        target=message.target,
        space=read_space(message.space),
        objective=read_objective(message.objective),
        method=message.method or default["method"],
        seed=message.seed,
        window=read_window(message.window) if message.HasField("window") else TrialLength(),
        first=tuple(
            read_configuration(configuration, f"first[{index}]") for index, configuration in enumerate(message.first)
        ),
        root=MeasuredRoot(message.root.service, message.root.operation) if message.HasField("root") else None,
        **number,
    )


def session_message(session: Session) -> session_pb2.TuningSession:
    message = head_message(session)
    message.trials.extend(trial_message(trial, session.plan.space) for trial in session.trials)
    return message


def head_message(session: Session) -> session_pb2.TuningSession:
    """The session's message without trials."""
    message = session_pb2.TuningSession(
        plan=plan_message(session.plan),
        phase=_PHASES[session.phase],
        created_at=_timestamp(session.created_ms),
        now=_timestamp(session.now_ms),
        refuted=session.refuted,
        ended_at=None if session.ended_ms is None else _timestamp(session.ended_ms),
        why=session.why,
    )
    if session.gain is not None:
        gain = session.gain
        message.gain.CopyFrom(session_pb2.Gain(share=gain.share, lower=gain.lower, upper=gain.upper, pairs=gain.pairs))
    return message


def trial_message(trial: Trial, space: Space) -> trial_pb2.Trial:
    return trial_pb2.Trial(
        number=trial.number,
        purpose=_PURPOSES[trial.purpose],
        configuration=write_configuration(trial.configuration, space),
        point=trial.point,
        request_id=trial.request_id,
        asked_at=_timestamp(trial.asked_ms),
        due_at=_timestamp(trial.due_ms),
        confirms=trial.of,
        outcome=None if trial.outcome is None else write_outcome(trial.outcome),
        told_at=None if trial.told_ms is None else _timestamp(trial.told_ms),
        place=trial.place,
        applied_at=None if trial.applied_ms is None else _timestamp(trial.applied_ms),
    )


def _session(message: session_pb2.TuningSession) -> Session:
    plan = read_plan(message.plan)
    wrong = list(problems(plan))
    if wrong:
        raise ValueError("\n".join(wrong))
    phases: dict[int, Phase] = {number: phase for phase, number in _PHASES.items()}
    if message.phase not in phases:
        raise ValueError(f"phase: {message.phase} is not legal; legal: {', '.join(phase.name for phase in Phase)}")
    gain = message.gain
    return Session(
        plan=plan,
        created_ms=message.created_at.ToMilliseconds(),
        now_ms=message.now.ToMilliseconds(),
        phase=phases[message.phase],
        trials=tuple(_trial(trial, index, plan) for index, trial in enumerate(message.trials)),
        refuted=tuple(message.refuted),
        gain=Gain(gain.share, gain.lower, gain.upper, gain.pairs) if message.HasField("gain") else None,
        ended_ms=message.ended_at.ToMilliseconds() if message.HasField("ended_at") else None,
        why=message.why,
    )


def _trial(message: trial_pb2.Trial, index: int, plan: Plan) -> Trial:
    where = f"trials[{index}]"
    purposes: dict[int, Purpose] = {number: purpose for purpose, number in _PURPOSES.items()}
    if message.purpose not in purposes:
        raise ValueError(f"{where}.purpose: {message.purpose} is not legal")
    configuration = read_configuration(message.configuration, f"{where}.configuration")
    outcome = read_outcome(message.outcome) if message.HasField("outcome") else None
    wrong = plan.space.problems(configuration)
    if message.number != index:
        wrong.append(f"number: {message.number} is not legal; legal: {index}")
    if len(message.point) != len(plan.space.parameters):
        wrong.append(f"point: {len(message.point)} coordinates; legal: {len(plan.space.parameters)}")
    if not all(-1e6 < coordinate < 1e6 for coordinate in message.point):
        wrong.append("point: a coordinate is not legal; legal: finite")
    if outcome is not None and (invalid := problem(outcome)):
        wrong.append(f"outcome.{invalid}")
    if (outcome is None) == message.HasField("place") or (outcome is None) == message.HasField("told_at"):
        wrong.append("place, told_at: legal: both with an outcome, neither without one")
    if wrong:
        raise ValueError("\n".join(f"{where}.{problem}" for problem in wrong))
    return Trial(
        number=message.number,
        purpose=purposes[message.purpose],
        configuration=configuration,
        point=tuple(message.point),
        request_id=message.request_id,
        asked_ms=message.asked_at.ToMilliseconds(),
        due_ms=message.due_at.ToMilliseconds(),
        of=message.confirms if message.HasField("confirms") else None,
        outcome=outcome,
        told_ms=message.told_at.ToMilliseconds() if message.HasField("told_at") else None,
        place=message.place if message.HasField("place") else None,
        applied_ms=message.applied_at.ToMilliseconds() if message.HasField("applied_at") else None,
    )


def _timestamp(ms: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromMilliseconds(ms)
    return stamp
