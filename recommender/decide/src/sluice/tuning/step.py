"""One step of all tuning sessions: from their state, commands and outcomes to the next sessions and their records.
Pure.

A command is answered once, in the transaction that makes it effective. A command without an answer changed nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from google.protobuf.message import Message

from sluice.tuning.command import Done, commanded
from sluice.tuning.explanation import explanation
from sluice.tuning.names import TrialName, answers_name, session_name, trial_name
from sluice.tuning.objective.outcome import Outcome
from sluice.tuning.records import KnownSessions, Sessions, TuningCommit
from sluice.tuning.session.events import Tell, Tick
from sluice.tuning.session.message import head_message, trial_message
from sluice.tuning.session.session import Session
from sluice.tuning.session.step import OPEN, step
from sluice.tuning.v1 import log_pb2

log = logging.getLogger(__name__)

# How many answers are kept for a server that reads them late.
ANSWERS_KEPT = 100
# How many sessions are kept. Beyond that, a new session replaces the one that ended first.
SESSIONS_KEPT = 200


def stepped(
    known: KnownSessions, commands: Sequence[log_pb2.Command], measured: Mapping[TrialName, Outcome], now_ms: int
) -> tuple[KnownSessions, TuningCommit]:
    """measured: the outcomes of trials in force that ended."""
    sessions = dict(known.sessions)
    for (name, number), outcome in measured.items():
        sessions[name], _ = step(sessions[name], Tell(number, outcome), now_ms)
    answers = [_answered(sessions, command, now_ms) for command in commands]
    for name, session in sessions.items():
        if any(now_ms >= trial.due_ms for trial in session.flying):
            sessions[name], _ = step(session, Tick(), now_ms)
    gone = _forgotten(sessions)
    decisions: dict[str, Message | None] = {}
    explanations: dict[str, Message | None] = {}
    for name in gone:
        previous = known.sessions[name]
        explanations[session_name(name)] = decisions[session_name(name)] = None
        decisions |= {trial_name(name, trial.number): None for trial in previous.trials}
        del sessions[name]
    for name, session in sessions.items():
        changed = _changed(known.sessions.get(name), session)
        decisions |= changed
        if changed:
            explanations[session_name(name)] = explanation(session)
    newest = [*known.answers, *answers]
    if answers:
        newest = newest[-max(ANSWERS_KEPT, len(answers)) :]
        decisions[answers_name()] = log_pb2.Answers(answers=newest)
    return KnownSessions(sessions, newest), TuningCommit(decisions, explanations)


def _answered(sessions: dict[str, Session], command: log_pb2.Command, now_ms: int) -> log_pb2.Answer:
    """The answer. Puts the session that the command changed or created into `sessions`."""
    try:
        done = commanded(sessions, command, now_ms)
    except Exception as cause:  # an error of a method or its library must not stop other sessions
        log.exception("a command of a tuning session failed")
        why = f"{type(cause).__name__}: {cause}"
        done = Done(None, log_pb2.Refusal(code="INTERNAL", why=why[:1000]))
    if done.session is not None:
        sessions[done.session.plan.name] = done.session
    return log_pb2.Answer(request_id=command.request_id, refusal=done.refusal, trials=done.trials)


def _forgotten(sessions: Sessions) -> list[str]:
    ended = sorted(
        (session for session in sessions.values() if session.phase not in OPEN),
        key=lambda session: session.ended_ms or 0,
    )
    return [session.plan.name for session in ended[: max(0, len(sessions) - SESSIONS_KEPT)]]


def _changed(previous: Session | None, after: Session) -> dict[str, Message | None]:
    """The records that changed. A later time alone is no change."""
    if previous is after:
        return {}
    records: dict[str, Message | None] = {}
    name = after.plan.name
    for was, now in zip_longest(previous.trials if previous is not None else (), after.trials):
        if was is not now:
            trial = trial_message(now, after.plan.space)
            records[trial_name(name, now.number)] = log_pb2.SessionRecord(session=name, trial=trial)
    if previous is None or _head(previous) != _head(after):
        records[session_name(name)] = log_pb2.SessionRecord(session=name, head=head_message(after))
    return records


def _head(session: Session) -> Session:
    return replace(session, trials=(), now_ms=0)
