"""A session from its creation to its answer."""

import math
from dataclasses import replace

import pytest

from sluice.tuning.methods.methods import METHODS
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.events import Ask, Handed, Moved, Recorded, RefusedCommand, Restore, Stop, Tell, Tick
from sluice.tuning.session.session import Phase, Purpose, Session, Trial
from sluice.tuning.session.step import step
from sluice_kit.decide.spaces import MIXED

from .runs import PLAN, good, handed, opened, run

FAILED = Outcome(TrialVerdict.FAILED, why="the target refused it")


def refused(session: Session, event: Ask | Tell | Stop) -> RefusedCommand:
    """Why the event is refused; it changes nothing."""
    after, effects = step(session, event, session.now_ms)
    (effect,) = effects
    assert isinstance(effect, RefusedCommand)
    assert after == session
    return effect


def test_the_default_is_first_and_the_winner_is_confirmed_in_turn() -> None:
    session = run(opened())
    assert session.phase is Phase.DONE
    assert session.trials[0].configuration == MIXED.default
    assert [trial.purpose for trial in session.trials[:7]] == [Purpose.SEARCH] * 7
    order = [Purpose.DEFAULT, Purpose.WINNER, Purpose.WINNER, Purpose.DEFAULT]
    assert [trial.purpose for trial in session.trials[7:]] == order
    assert session.best is not None
    assert {trial.of for trial in session.trials[7:]} == {session.best.number}
    assert session.gain is not None
    assert session.gain.pairs == 2
    assert session.gain.share > 0
    assert session.recommended == session.best.configuration
    assert session.why.startswith(f"trial {session.best.number}: ")


def test_a_winner_that_was_luck_is_not_recommended() -> None:
    """Its search value was the least; measured again it is as the default, now above, now below."""
    again = iter([100.0, 99.0, 101.0, 100.0])
    session = run(
        opened(),
        lambda trial: good(trial) if trial.purpose is Purpose.SEARCH else Outcome(TrialVerdict.GOOD, next(again)),
    )
    assert session.phase is Phase.DONE
    assert "is not known to be better" in session.why
    assert session.recommended == MIXED.default


def test_a_winner_that_is_unsafe_when_tried_again_is_refuted_and_the_next_takes_its_place() -> None:
    session = run(opened(), until=Phase.CONFIRMING)
    assert session.best is not None
    winner = session.best.number

    def unsafe(trial: Trial) -> Outcome:
        again = trial.purpose is Purpose.WINNER and trial.of == winner
        return Outcome(TrialVerdict.UNSAFE, excess=0.5) if again else good(trial)

    session = run(session, unsafe)
    assert session.refuted == (winner,)
    assert session.best is not None
    assert session.best.number != winner
    assert session.phase is Phase.DONE


def test_the_default_stays_when_every_winner_is_refuted_or_nothing_is_good() -> None:
    session = run(opened(), lambda trial: FAILED if trial.purpose is Purpose.WINNER else good(trial))
    assert (session.phase, len(session.refuted)) == (Phase.DONE, 2)
    assert session.recommended == MIXED.default
    nothing = run(opened(), lambda trial: FAILED if trial.number else Outcome(TrialVerdict.UNSAFE, excess=0.1))
    assert (nothing.phase, nothing.why) == (Phase.DONE, "no trial was good: the default stays")
    assert len(nothing.trials) == 7
    best = run(opened(), lambda trial: Outcome(TrialVerdict.GOOD, float(trial.number)))
    assert (best.phase, best.why) == (Phase.DONE, "nothing was better than the default")


def test_what_cannot_be_measured_or_set_at_all_ends_after_three_trials() -> None:
    """The budget is 6: four more would fail as those did, for minutes each."""
    nothing = run(opened(), lambda trial: FAILED)
    why = "the default's trial and all others failed: the default stays; the target refused it"
    assert (nothing.phase, nothing.why, len(nothing.trials)) == (Phase.DONE, why, 3)
    assert nothing.recommended == MIXED.default
    searched = run(opened(), lambda trial: FAILED if trial.number < 2 else good(trial))
    assert (searched.phase, len(searched.searched)) == (Phase.DONE, 7)


def test_three_that_failed_wait_for_what_is_in_flight() -> None:
    session, effects = step(opened(replace(PLAN, parallel=4)), Ask(4), 2_000)
    for trial in handed(effects)[:3]:
        session, _ = step(session, Tell(trial.number, FAILED), 3_000)
    assert session.phase is Phase.SEARCHING
    assert refused(session, Ask()).why == "all trials failed, and 1 trials are in flight"
    after, _ = step(session, Tell(3, FAILED), 4_000)
    assert (after.phase, after.ended_ms) == (Phase.DONE, 4_000)
    after, _ = step(session, Tell(3, good(session.trials[3])), 4_000)
    assert after.phase is Phase.SEARCHING
    after, effects = step(after, Ask(), 5_000)
    assert [trial.number for trial in handed(effects)] == [4]


def test_a_record_of_before_in_which_all_failed_ends_with_its_next_trial() -> None:
    session, _ = step(opened(replace(PLAN, parallel=3)), Ask(3), 2_000)
    failed = tuple(replace(trial, outcome=FAILED, told_ms=3_000, place=trial.number) for trial in session.trials)
    session, effects = step(replace(session, trials=failed), Ask(), 4_000)
    assert [trial.number for trial in handed(effects)] == [3]
    after, _ = step(session, Tell(3, FAILED), 5_000)
    assert after.phase is Phase.DONE


def test_while_the_default_is_in_flight_failures_end_nothing() -> None:
    session, effects = step(opened(replace(PLAN, parallel=4)), Ask(4), 2_000)
    for trial in handed(effects)[1:]:
        session, _ = step(session, Tell(trial.number, FAILED), 3_000)
    _, effects = step(session, Ask(), 4_000)
    assert [trial.number for trial in handed(effects)] == [4]


def test_a_default_that_cannot_be_measured_again_ends_it() -> None:
    session = run(opened(), lambda trial: FAILED if trial.purpose is Purpose.DEFAULT else good(trial))
    assert session.phase is Phase.DONE
    assert session.gain is None
    assert session.recommended == MIXED.default


def test_without_pairs_the_best_seen_is_the_answer() -> None:
    session = run(opened(replace(PLAN, pairs=0)))
    assert session.phase is Phase.DONE
    assert session.best is not None
    assert session.recommended == session.best.configuration


def test_a_trial_told_twice_is_refused() -> None:
    session, _ = step(opened(), Ask(), 2_000)
    session, _ = step(session, Tell(0, FAILED), 3_000)
    again = refused(session, Tell(0, Outcome(TrialVerdict.GOOD, 1.0)))
    assert (again.code, again.why) == (
        "ALREADY_EXISTS",
        "trial 0 already has an outcome: FAILED the target refused it",
    )


@pytest.mark.parametrize(
    ("event", "code", "field"),
    [
        (Tell(3, FAILED), "NOT_FOUND", "trial"),
        (Tell(-1, FAILED), "NOT_FOUND", "trial"),
        (Tell(0, Outcome(TrialVerdict.GOOD, math.nan)), "INVALID_ARGUMENT", "outcome.value"),
        (Tell(0, Outcome(TrialVerdict.GOOD)), "INVALID_ARGUMENT", "outcome.value"),
        (Ask(), "RESOURCE_EXHAUSTED", ""),
        (Ask(0), "INVALID_ARGUMENT", "count"),
    ],
)
def test_what_is_refused_changes_nothing(event: Tell | Ask, code: str, field: str) -> None:
    session, _ = step(opened(), Ask(), 2_000)
    refusal = refused(session, event)
    assert (refusal.code, refusal.field) == (code, field)


def test_the_same_call_again_gets_the_same_trials() -> None:
    session, effects = step(opened(replace(PLAN, parallel=4)), Ask(3, "a call"), 2_000)
    again, repeated = step(session, Ask(3, "a call"), 3_000)
    assert repeated == effects
    assert again.trials == session.trials
    assert len(handed(effects)) == 3


def test_several_in_flight_differ_and_may_be_told_in_any_order() -> None:
    session, effects = step(opened(replace(PLAN, parallel=4)), Ask(9), 2_000)
    assert [trial.number for trial in handed(effects)] == [0, 1, 2, 3]
    assert len({tuple(sorted(trial.configuration.items())) for trial in session.trials}) == 4
    for number in (2, 0, 3, 1):
        session, _ = step(session, Tell(number, good(session.trials[number])), 3_000 + number)
    assert [trial.place for trial in session.trials] == [1, 3, 0, 2]
    session, effects = step(session, Ask(9), 9_000)
    assert [trial.number for trial in handed(effects)] == [4, 5, 6]
    used = refused(session, Ask())
    assert (used.code, used.why) == ("FAILED_PRECONDITION", "the budget of 6 is used, and 3 trials are in flight")


def test_a_trial_that_nobody_tells_fails_and_holds_nothing_up() -> None:
    session, _ = step(opened(), Ask(), 2_000)
    session, effects = step(session, Tick(), 601_999)
    assert effects == ()
    session, effects = step(session, Ask(), 602_000)
    recorded, restored, following = effects
    assert isinstance(recorded, Recorded)
    assert recorded.trial.outcome == Outcome(TrialVerdict.FAILED, why="no outcome within 600 s")
    assert restored == Restore(MIXED.default)
    assert isinstance(following, Handed)
    assert refused(session, Tell(0, FAILED)).code == "ALREADY_EXISTS"


def test_what_does_harm_is_rolled_back_at_once() -> None:
    session, _ = step(opened(), Ask(), 2_000)
    _, effects = step(session, Tell(0, Outcome(TrialVerdict.UNSAFE, excess=0.1)), 3_000)
    assert Restore(MIXED.default) in effects


def test_a_stopped_session_hands_out_nothing_and_loses_nothing() -> None:
    session, _ = step(opened(), Ask(), 2_000)
    session, effects = step(session, Stop("maintenance"), 3_000)
    assert effects == (Moved(Phase.STOPPED, "maintenance"), Restore(MIXED.default))
    assert (session.phase, session.ended_ms) == (Phase.STOPPED, 3_000)
    assert refused(session, Ask()).why == "the session is STOPPED: maintenance"
    assert refused(session, Stop()).code == "FAILED_PRECONDITION"
    session, effects = step(session, Tell(0, good(session.trials[0])), 4_000)
    assert session.trials[0].outcome is not None
    assert session.phase is Phase.STOPPED


def test_a_clock_that_was_set_back_stands_still() -> None:
    session, _ = step(opened(), Ask(), 50_000)
    session, _ = step(session, Tell(0, FAILED), 10_000)
    assert (session.now_ms, session.trials[0].told_ms) == (50_000, 50_000)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_through_a_session_with_failures(name: str) -> None:
    def outcome(trial: Trial) -> Outcome:
        return {2: FAILED, 3: Outcome(TrialVerdict.UNSAFE, excess=0.2)}.get(trial.number) or good(trial)

    session = run(opened(replace(PLAN, method=name, budget=6)), outcome)
    assert session.phase is Phase.DONE
    assert all(not MIXED.problems(trial.configuration) for trial in session.trials)


def test_a_warm_starts_configurations_are_tried_first() -> None:
    first = ({**MIXED.default, "threads": 12, "spare": 3}, {**MIXED.default, "reuse": True})
    session = run(opened(replace(PLAN, first=first)))
    assert [trial.configuration for trial in session.trials[1:3]] == list(first)
