"""The session's state machine: `step(session, event, now) -> (session', effects)`. Pure; no other state is kept.

    SEARCHING   trial 0 is the default; 1 to `budget` are the warm start's and then the method's
      | all are reported, the best is not the default
    CONFIRMING  default and winner in turn; a failed or unsafe winner is refuted, and the next best takes its place
      | enough pairs, or no winner left
    DONE        the result: `Session.recommended`, `Session.gain`

A search whose first trials all failed, the default's too, is also DONE: the cause is not the configurations. STOPPED
follows from either of the first two. Each event first fails the trials without a report in time, so that a dead
measurer does not block a session. A method's proposal is a function of the session (`methods.question`). So a session
that is read back from its record continues unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from sluice.tuning.objective.outcome import Outcome, TrialVerdict, problem
from sluice.tuning.session import asking
from sluice.tuning.session.confirm import gain, is_default
from sluice.tuning.session.events import (
    Applied,
    Ask,
    Effect,
    Event,
    Handed,
    Moved,
    Recorded,
    RefusedCommand,
    Restore,
    Stop,
    Tell,
    Tick,
)
from sluice.tuning.session.session import Phase, Purpose, Session, Trial, value

# How many refuted winners end the session without a result, and how many confirming trials may exceed the pairs of the
# plan.
REFUTED, SPARE = 2, 4

OPEN = (Phase.SEARCHING, Phase.CONFIRMING)


def step(session: Session, event: Event, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    """The session after the event at `now_ms`, Unix time, and its effects. If the clock goes back, the session's time
    stays."""
    now_ms = max(now_ms, session.now_ms)
    session, effects = _lapsed(replace(session, now_ms=now_ms), now_ms)
    more: tuple[Effect, ...]
    match event:
        case Ask():
            session, more = _ask(session, event, now_ms)
        case Tell():
            session, more = _tell(session, event, now_ms)
        case Applied():
            session, more = _applied(session, event, now_ms)
        case Stop():
            session, more = _stop(session, event)
        case Tick():
            more = ()
    return session, effects + more


def _lapsed(session: Session, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    effects: tuple[Effect, ...] = ()
    for trial in session.flying:
        if now_ms >= trial.due_ms:
            why = f"no outcome within {(trial.due_ms - trial.asked_ms) / 1000:g} s"
            session, more = _recorded(session, trial, Outcome(TrialVerdict.FAILED, why=why), now_ms)
            effects += more
    return session, effects


def _ask(session: Session, event: Ask, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    if event.count < 1:
        why = f"{event.count} is not legal; legal: >= 1"
        return session, (RefusedCommand("INVALID_ARGUMENT", "count", why),)
    same = [trial for trial in session.trials if event.request_id and trial.request_id == event.request_id]
    if same:
        return session, tuple(map(Handed, same))
    if session.phase not in OPEN:
        return session, (
            RefusedCommand("FAILED_PRECONDITION", "", f"the session is {session.phase.name}: {session.why}"),
        )
    parallel = session.plan.parallel if session.phase is Phase.SEARCHING else 1
    free = parallel - len(session.flying)
    if free < 1:
        flying = ", ".join(str(trial.number) for trial in session.flying)
        why = f"at most {parallel} trials may be in flight, and these are ({flying}): tell an outcome first"
        return session, (RefusedCommand("RESOURCE_EXHAUSTED", "", why),)
    effects: list[Effect] = []
    for _ in range(min(event.count, free)):
        trial = asking.next_trial(session, event.request_id, now_ms)
        if trial is None:
            break
        session = replace(session, trials=(*session.trials, trial))
        effects.append(Handed(trial))
    if not effects:
        ended = "all trials failed" if session.only_failed else f"the budget of {session.plan.budget} is used"
        why = f"{ended}, and {len(session.flying)} trials are in flight"
        return session, (RefusedCommand("FAILED_PRECONDITION", "", why),)
    return session, tuple(effects)


def _tell(session: Session, event: Tell, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    trial = _flying(session, event.number)
    if isinstance(trial, RefusedCommand):
        return session, (trial,)
    wrong = problem(event.outcome)
    if wrong is not None:
        return session, (RefusedCommand("INVALID_ARGUMENT", f"outcome.{wrong.partition(':')[0]}", wrong),)
    return _recorded(session, trial, event.outcome, now_ms)


def _applied(session: Session, event: Applied, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    trial = _flying(session, event.number)
    if isinstance(trial, RefusedCommand):
        return session, (trial,)
    plan = session.plan
    if plan.root is None:
        why = "the session has no root, so the pipeline does not measure it: tell its outcome"
        return session, (RefusedCommand("FAILED_PRECONDITION", "applied_at", why),)
    # A caller that was restarted may set the configuration and report it again: measure from then on.
    since_ms = max(trial.applied_ms or trial.asked_ms, min(event.at_ms, now_ms))
    if since_ms == trial.applied_ms:
        return session, ()
    return _with(session, replace(trial, applied_ms=since_ms)), ()


def _flying(session: Session, number: int) -> Trial | RefusedCommand:
    if not 0 <= number < len(session.trials):
        handed = f"legal: 0 to {len(session.trials) - 1}" if session.trials else "there are no trials yet"
        return RefusedCommand("NOT_FOUND", "trial", f"trial {number} was not handed out; {handed}")
    trial = session.trials[number]
    if trial.outcome is not None:
        why = f"trial {number} already has an outcome: {trial.outcome.verdict.name} {trial.outcome.why}".rstrip()
        return RefusedCommand("ALREADY_EXISTS", "trial", why)
    return trial


def _with(session: Session, trial: Trial) -> Session:
    return replace(session, trials=tuple(trial if other.number == trial.number else other for other in session.trials))


def _stop(session: Session, event: Stop) -> tuple[Session, tuple[Effect, ...]]:
    if session.phase not in OPEN:
        return session, (RefusedCommand("FAILED_PRECONDITION", "", f"the session is {session.phase.name} already"),)
    return _moved(session, Phase.STOPPED, event.why or "by a StopSession call")


def _recorded(session: Session, trial: Trial, outcome: Outcome, now_ms: int) -> tuple[Session, tuple[Effect, ...]]:
    place = sum(other.outcome is not None for other in session.trials)
    recorded = replace(trial, outcome=outcome, told_ms=now_ms, place=place)
    effects: tuple[Effect, ...] = (Recorded(recorded),)
    if outcome.verdict in (TrialVerdict.UNSAFE, TrialVerdict.FAILED) and session.plan.parallel == 1:
        effects += (Restore(session.plan.space.default),)  # do not leave a harmful configuration until the next ask
    session, more = _advanced(_with(session, recorded))
    return session, effects + more


def _advanced(session: Session) -> tuple[Session, tuple[Effect, ...]]:
    if session.phase is Phase.SEARCHING:
        if session.flying:
            return session, ()
        if session.only_failed:
            why = session.trials[0].outcome.why if session.trials[0].outcome else ""
            return _moved(session, Phase.DONE, f"the default's trial and all others failed: the default stays; {why}")
        if len(session.searched) <= session.plan.budget:
            return session, ()
        return _chosen(session)
    if session.phase is Phase.CONFIRMING and not session.flying:
        return _confirmed(session)
    return session, ()


def _chosen(session: Session) -> tuple[Session, tuple[Effect, ...]]:
    """Called after the search, or after a winner was refuted."""
    best = session.best
    if best is None:
        return _moved(session, Phase.DONE, "no trial was good: the default stays")
    if best.number == 0 or best.configuration == session.plan.space.default:
        return _moved(session, Phase.DONE, "nothing was better than the default")
    if len(session.refuted) >= REFUTED:
        return _moved(session, Phase.DONE, f"the confirmation refuted {REFUTED} winners: the default stays")
    if not session.plan.pairs:
        return _moved(session, Phase.DONE, f"trial {best.number} is the best seen, and was not confirmed")
    return _moved(session, Phase.CONFIRMING, f"trial {best.number} is the best seen")


def _confirmed(session: Session) -> tuple[Session, tuple[Effect, ...]]:
    best = session.best
    if best is None:
        return session, ()
    trials = [trial for trial in session.trials if trial.of == best.number]
    if any(trial.purpose is Purpose.WINNER and _bad(trial) for trial in trials):
        return _chosen(replace(session, refuted=(*session.refuted, best.number)))
    pairs = [
        (value(pair[not is_default(place)]), value(pair[is_default(place)]))
        for place, pair in ((2 * index, trials[2 * index : 2 * index + 2]) for index in range(len(trials) // 2))
        if not any(map(_bad, pair))
    ]
    if len(pairs) < session.plan.pairs and len(trials) < 2 * session.plan.pairs + SPARE:
        return session, ()
    measured_gain = gain(pairs)
    session = replace(session, gain=measured_gain)
    if measured_gain is None:
        return _moved(session, Phase.DONE, "the default could not be measured again: the gain is unknown")
    bounds = f"{measured_gain.lower:.1%} to {measured_gain.upper:.1%}"
    interval = f"{measured_gain.share:.1%} less than the default ({bounds}, {measured_gain.pairs} pairs)"
    if measured_gain.lower > 0:
        return _moved(session, Phase.DONE, f"trial {best.number}: {interval}")
    return _moved(session, Phase.DONE, f"trial {best.number} is not known to be better: {interval}")


def _bad(trial: Trial) -> bool:
    return trial.outcome is None or trial.outcome.verdict is not TrialVerdict.GOOD


def _moved(session: Session, phase: Phase, why: str) -> tuple[Session, tuple[Effect, ...]]:
    effects: tuple[Effect, ...] = (Moved(phase, why),)
    if phase not in OPEN:
        session = replace(session, ended_ms=session.now_ms)
        effects += (Restore(session.plan.space.default),)
    return replace(session, phase=phase, why=why), effects
