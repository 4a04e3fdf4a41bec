"""Executes one command: the session after it, or the reason why it changes nothing. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from sluice.tuning.objective.message import read_outcome
from sluice.tuning.session import warm
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Applied, Ask, Event, Handed, RefusedCommand, Stop, Tell
from sluice.tuning.session.message import read_plan
from sluice.tuning.session.session import Session
from sluice.tuning.session.step import step
from sluice.tuning.v1 import log_pb2, tuning_service_pb2

# The most characters of a refusal: a plan may have a problem per parameter.
MOST_WHY = 4_000

_Told: TypeAlias = (
    tuning_service_pb2.AskTrialsRequest | tuning_service_pb2.TellTrialRequest | tuning_service_pb2.StopSessionRequest
)


class Done(NamedTuple):
    """session: after the command; None where nothing changed. trials: the numbers of the trials handed out."""

    session: Session | None
    refusal: log_pb2.Refusal | None = None
    trials: Sequence[int] = ()


def commanded(sessions: Mapping[str, Session], command: log_pb2.Command, now_ms: int) -> Done:
    match command.WhichOneof("command"):
        case "create":
            return _created(sessions, command.create, now_ms)
        case "ask":
            return _event(sessions, command.ask, Ask(command.ask.count, command.ask.request_id), now_ms)
        case "tell":
            return _reported(sessions, command.tell, now_ms)
        case "stop":
            return _event(sessions, command.stop, Stop(command.stop.why), now_ms)
        case _:
            return _refused("INVALID_ARGUMENT", "", "this decider does not know the command")


def _created(sessions: Mapping[str, Session], request: tuning_service_pb2.CreateSessionRequest, now_ms: int) -> Done:
    try:
        plan = read_plan(request.plan)
    except ValueError as cause:
        return _refused("INVALID_ARGUMENT", f"plan.{str(cause).partition(':')[0]}", str(cause))
    session = create(plan, sessions.values(), now_ms)
    if isinstance(session, Session) and request.warm_start:
        earlier = sessions.get(request.warm_start)
        if earlier is None:
            return _refused("NOT_FOUND", "warm_start", f"warm_start: there is no session {request.warm_start!r}")
        known = [configuration for configuration in warm.first(earlier, plan.space) if configuration not in plan.first]
        session = replace(session, plan=replace(plan, first=(*plan.first, *known)[: plan.budget]))
    if isinstance(session, RefusedCommand):
        return _refusal(session, "plan.")
    return Done(session)


def _reported(sessions: Mapping[str, Session], request: tuning_service_pb2.TellTrialRequest, now_ms: int) -> Done:
    if request.HasField("outcome") == request.HasField("applied_at"):
        return _refused("INVALID_ARGUMENT", "outcome", "outcome, applied_at: legal: exactly one of the two")
    if request.HasField("applied_at"):
        try:
            applied_ms = request.applied_at.ToMilliseconds()
        except ValueError:
            return _refused("INVALID_ARGUMENT", "applied_at", "applied_at: is no time; legal: years 1 to 9999")
        return _event(sessions, request, Applied(request.trial, applied_ms), now_ms)
    try:
        outcome = read_outcome(request.outcome)
    except ValueError as cause:
        return _refused("INVALID_ARGUMENT", str(cause).partition(":")[0], str(cause))
    return _event(sessions, request, Tell(request.trial, outcome), now_ms)


def _event(sessions: Mapping[str, Session], request: _Told, event: Event, now_ms: int) -> Done:
    session = sessions.get(request.session)
    if session is None:
        return _refused("NOT_FOUND", "session", f"session: there is no session {request.session!r}")
    after, effects = step(session, event, now_ms)
    refused = [effect for effect in effects if isinstance(effect, RefusedCommand)]
    handed = [effect.trial.number for effect in effects if isinstance(effect, Handed)]
    # Time passed all the same: trials without a report in time have failed by now.
    return Done(after, _refusal(refused[0]).refusal if refused else None, handed)


def _refusal(refused: RefusedCommand, within: str = "") -> Done:
    return _refused(refused.code, within + refused.field if refused.field else "", refused.why)


def _refused(code: str, field: str, why: str) -> Done:
    return Done(None, log_pb2.Refusal(code=code, field=field, why=why[:MOST_WHY]))
