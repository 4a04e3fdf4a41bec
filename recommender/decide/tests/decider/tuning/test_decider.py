"""Tuning sessions in the decider: what commands and measurements make of them in the journal."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sluice.journal.shard import AbortedError
from sluice.tuning import step as tuning_step
from sluice.tuning.measure import TrialMeasurement, ended
from sluice.tuning.objective.block import Block, Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.session import Phase, Session
from sluice.tuning.session.step import OPEN
from sluice.tuning.v1 import log_pb2, tuning_service_pb2
from sluice_kit.decide.tuning_worlds import SESSION, TRIAL, TuningWorld, index_of, plan
from sluice_kit.journal.memory_broker import MemoryBroker


def opened(**changes: object) -> TuningWorld:
    world = TuningWorld()
    assert not world.create(plan(**changes)).HasField("refusal")
    return world


def told(world: TuningWorld, until: Phase = Phase.DONE) -> Session:
    """Asks and tells until the session is in that phase."""
    for _ in range(60):
        session = world.sessions["first"]
        if session.phase is until or session.phase not in OPEN:
            return session
        (number,) = world.ask().trials
        world.good(number)
    raise AssertionError("the session does not end")


def test_a_session_is_created_asked_told_and_confirmed_in_the_shard_s_transactions() -> None:
    world = opened()
    session = told(world)
    assert (session.phase, len(session.searched), session.gain is not None) == (Phase.DONE, 5, True)
    names = [record.key for record in world.log.cluster.partitions[world.log.topics.decisions, 0].committed(0)]
    assert names[-1] == "shard/0"
    explained = tuning_service_pb2.ExplainSessionResponse.FromString(
        world.log.committed(world.log.topics.explanations)["session/first"]
    )
    assert explained.improvements[0].trial == 0
    assert explained.changed, "where the winner differs"


def test_of_a_session_only_what_changed_is_written() -> None:
    world = opened()
    heads = len(world.records(SESSION))
    world.ask()
    assert (len(world.records(SESSION)), len(world.records(TRIAL))) == (heads, 1)
    world.pass_s(20)
    assert (len(world.records(SESSION)), len(world.records(TRIAL))) == (heads, 1), "time alone is no change"
    world.good(0)
    assert (len(world.records(SESSION)), len(world.records(TRIAL))) == (heads, 2)


def test_one_who_comes_after_a_kill_goes_on_from_what_is_there() -> None:
    world = opened()
    for number in range(3):
        world.ask()
        world.good(number)
    (flying,) = world.ask().trials
    after = world.again()
    assert dict(after.loop.owned[0].parts["tuning"].known.sessions) == dict(world.sessions)
    after.good(flying)
    undisturbed = opened()
    assert [trial.configuration for trial in told(after).trials] == [
        trial.configuration for trial in told(undisturbed).trials
    ]


def test_what_was_measured_is_told_by_the_decider() -> None:
    world = opened()
    world.source.ms = {1: 50.0}
    (number,) = world.ask().trials
    world.applied(number)
    world.pass_s(1)
    assert world.sessions["first"].trials[0].outcome is None, "the warm-up counts for nothing"
    world.pass_s(8)
    outcome = world.sessions["first"].trials[0].outcome
    assert outcome is not None
    assert (outcome.verdict, round(outcome.value or 0)) == (TrialVerdict.GOOD, 100)
    (number,) = world.ask().trials
    world.applied(number)
    world.pass_s(9)
    outcome = world.sessions["first"].trials[1].outcome
    assert outcome is not None
    assert 49 < (outcome.value or 0) < 51


def test_a_trial_that_is_set_anew_is_measured_anew() -> None:
    world = opened()
    world.source.ms = {0: 800.0}
    world.ask()
    world.applied(0)
    world.pass_s(3)
    world.source.ms = {0: 100.0}
    world.applied(0)
    world.pass_s(5)
    assert world.sessions["first"].trials[0].outcome is None
    world.pass_s(5)
    outcome = world.sessions["first"].trials[0].outcome
    assert outcome is not None
    assert 99 < (outcome.value or 0) < 101


def test_a_trial_that_passes_an_slo_is_ended_at_once_and_recorded() -> None:
    world = opened()
    world.source.ms = {0: 5_000.0}
    (number,) = world.ask().trials
    world.applied(number)
    world.pass_s(8)
    outcome = world.sessions["first"].trials[0].outcome
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.UNSAFE
    assert "rolled back" in outcome.why
    assert outcome.excess > 1


def measured(cpu_s: list[float | None], whole: bool, unknown: tuple[str, ...] = ()) -> Outcome | None:
    """Of a trial whose objective is CPU time: blocks of 10 s with 100 requests of 100 ms."""
    cpu = Objective(((Metric.CPU, 1.0),), (TuningSlo(Metric.P99, 900.0),))
    world = opened(objective=cpu, window=TrialLength(2.0, 20.0, 60.0, 0.5))
    world.ask()
    session = world.sessions["first"]
    blocks = [Block(10.0, {index_of(100): 100}, cpu_s=each) for each in cpu_s]
    return ended(session, session.trials[0], TrialMeasurement(blocks, whole, unknown=unknown))


def test_cpu_time_of_a_request_is_by_the_blocks_that_know_it() -> None:
    assert measured([2.0] * 4 + [None] * 2, whole=False) is None, "of four blocks there is no interval"
    outcome = measured([2.0] * 5 + [None], whole=False)
    assert outcome is not None
    assert (outcome.verdict, outcome.value) == (TrialVerdict.GOOD, pytest.approx(20.0)), "2 s for 100 requests"


def test_cpu_time_that_never_comes_fails_the_trial_and_names_who_did_not_tell() -> None:
    outcome = measured([2.0] * 5 + [None], whole=True, unknown=("'db-1' of 'db'",))
    assert outcome == Outcome(TrialVerdict.FAILED, why="cpu_ms is unknown: no CPU metrics of 'db-1' of 'db'")
    outcome = measured([2.0] * 5 + [None], whole=True, unknown=tuple(f"'{n}' of 'db'" for n in range(12)))
    assert outcome is not None
    assert outcome.why.endswith("'8' of 'db', '9' of 'db' and 2 more")


@pytest.mark.parametrize("silent", [False, True])
def test_where_nothing_completes_the_pipeline_is_named_if_it_may_be_that(silent: bool) -> None:
    world = opened()
    world.ask()
    world.good(0)
    world.ask()
    session = world.sessions["first"]
    outcome = ended(
        session, session.trials[1], TrialMeasurement([Block(1.0, {}, 0)] * 5, complete=False, silent=silent)
    )
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.UNSAFE
    assert outcome.why.startswith("rolled back: no request completed in 5 s")
    assert ("the pipeline may stand still" in outcome.why) is silent


def test_a_trial_that_cannot_win_is_given_up() -> None:
    world = opened()
    world.source.ms = {1: 800.0}
    for number in range(2):
        world.ask()
        world.applied(number)
        world.pass_s(9)
    trials = world.sessions["first"].trials
    outcome = trials[1].outcome
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.HOPELESS


def test_a_winner_that_is_far_better_is_confirmed_by_what_was_measured() -> None:
    """The default's trials beside it are not given up, though they cannot win."""
    world = TuningWorld()
    world.create(plan(budget=1))
    for _ in range(10):
        if world.sessions["first"].phase not in OPEN:
            break
        (number,) = world.ask().trials
        trial = world.sessions["first"].trials[number]
        usual = trial.configuration == plan().space.default
        world.source.ms = {number: 200.0 if usual else 100.0}
        world.applied(number)
        world.pass_s(9)
    session = world.sessions["first"]
    assert {trial.outcome.verdict for trial in session.trials if trial.outcome} == {TrialVerdict.GOOD}
    assert session.gain is not None
    assert (round(session.gain.share, 2), session.gain.pairs) == (0.5, 2)
    assert session.recommended == session.trials[1].configuration


def test_a_root_without_spans_fails_the_trial_with_its_reason() -> None:
    world = TuningWorld()
    world.source.measured = lambda asked, now_ms: {}  # type: ignore[method-assign]
    world.create(plan(patience_ms=15_000))
    world.ask()
    world.applied(0)
    world.pass_s(20)
    outcome = world.sessions["first"].trials[0].outcome
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.FAILED
    assert "no outcome within 15 s" in outcome.why


def test_a_database_that_is_away_costs_no_command_and_no_period() -> None:
    world = opened()
    world.ask()
    world.applied(0)
    world.source.problem = OSError("refused")
    world.pass_s(5)
    assert world.sessions["first"].trials[0].outcome is None
    assert not world.good(0).HasField("refusal")
    world.source.problem = None
    world.ask()
    world.applied(1)
    world.pass_s(9)
    assert world.sessions["first"].trials[1].outcome is not None


def test_a_trial_that_nobody_tells_fails_in_time() -> None:
    world = TuningWorld()
    world.create(plan(patience_ms=15_000))
    world.ask()
    world.pass_s(16)
    outcome = world.sessions["first"].trials[0].outcome
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.FAILED


def refusal(answer: log_pb2.Answer) -> tuple[str, str]:
    assert answer.HasField("refusal"), answer
    return answer.refusal.code, answer.refusal.field


def test_bad_input_is_refused_with_field_and_range_and_changes_nothing() -> None:
    world = opened()
    previous = dict(world.sessions)
    assert refusal(world.create(plan())) == ("ALREADY_EXISTS", "plan.name")
    second = world.create(plan(name="second"))
    assert refusal(second) == ("FAILED_PRECONDITION", "plan.target")
    assert "'first' is open on 'shop'" in second.refusal.why
    impossible = replace(plan().space.constraints[0], at_most=-300.0)
    wrong = world.create(plan(name="third", target="other", space=replace(plan().space, constraints=(impossible,))))
    assert refusal(wrong)[0] == "INVALID_ARGUMENT"
    assert "holds for no configuration; legal: >= -255" in wrong.refusal.why
    assert refusal(world.create(plan(name="fourth", target="other"), warm_start="none")) == ("NOT_FOUND", "warm_start")
    assert refusal(world.ask("nobody")) == ("NOT_FOUND", "session")
    assert refusal(world.ask(count=0)) == ("INVALID_ARGUMENT", "count")
    empty = world.call(log_pb2.Command())
    assert refusal(empty)[0] == "INVALID_ARGUMENT"
    assert dict(world.sessions).keys() == previous.keys()
    assert world.sessions["first"].trials == ()


def test_nan_a_trial_told_twice_and_one_never_handed_out() -> None:
    world = opened()
    assert refusal(world.tell(0, Outcome(TrialVerdict.GOOD, 1.0))) == ("NOT_FOUND", "trial")
    world.ask()
    assert refusal(world.ask()) == ("RESOURCE_EXHAUSTED", "")
    nan = world.tell(0, Outcome(TrialVerdict.GOOD, math.nan))
    assert refusal(nan) == ("INVALID_ARGUMENT", "outcome.value")
    assert "legal: -1e+100 to 1e+100" in nan.refusal.why
    assert world.sessions["first"].trials[0].outcome is None, "nothing is lost"
    world.good(0)
    kept = world.sessions["first"].trials[0]
    assert refusal(world.tell(0, Outcome(TrialVerdict.FAILED))) == ("ALREADY_EXISTS", "trial")
    assert refusal(world.applied(0)) == ("ALREADY_EXISTS", "trial")
    assert world.sessions["first"].trials[0] == kept


def test_a_session_that_the_pipeline_cannot_measure_is_told_by_its_caller() -> None:
    world = TuningWorld()
    world.create(plan(root=None))
    world.ask()
    assert refusal(world.applied(0)) == ("FAILED_PRECONDITION", "applied_at")


def test_a_stopped_session_hands_nothing_out_and_frees_its_target() -> None:
    world = opened()
    world.ask()
    world.stop(why="a release")
    assert (world.sessions["first"].phase, world.sessions["first"].why) == (Phase.STOPPED, "a release")
    assert refusal(world.ask()) == ("FAILED_PRECONDITION", "")
    assert refusal(world.stop()) == ("FAILED_PRECONDITION", "")
    assert not world.good(0).HasField("refusal"), "what is in flight may still be told"
    assert not world.create(plan(name="second"), warm_start="first").HasField("refusal")


def test_the_same_command_told_again_is_done_once() -> None:
    world = opened()
    ask = log_pb2.Command(request_id="mine", ask=tuning_service_pb2.AskTrialsRequest(session="first", count=1))
    world.call(ask)
    world.write(ask, "first")
    world.pass_s(2)
    assert len(world.sessions["first"].trials) == 1
    after = world.again()
    after.write(ask, "first")
    after.pass_s(2)
    assert len(after.sessions["first"].trials) == 1
    assert list(after.answers[-1].trials) == [0]


def test_an_aborted_commit_is_made_again() -> None:
    world = opened()
    broker = world.loop.shards.membership.broker
    assert isinstance(broker, MemoryBroker)
    calls = iter([True])

    def called(call: str) -> None:
        if call == "send_offset" and next(calls, False):
            raise AbortedError("by the test")

    broker.called = called
    ask = log_pb2.Command(ask=tuning_service_pb2.AskTrialsRequest(session="first", count=1))
    request_id = world.write(ask, "first")
    world.clock.pass_s(1)
    world.loop.periods()
    assert not world.sessions["first"].trials
    world.pass_s(1)
    assert list(world.answer(request_id).trials) == [0]
    assert len(world.sessions["first"].trials) == 1


def test_the_oldest_that_ended_goes_with_its_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning_step, "SESSIONS_KEPT", 2)
    world = TuningWorld()
    for name in ("a", "b", "c"):
        world.create(plan(name=name))
        world.ask(name)
        world.stop(name)
    assert set(world.sessions) == {"b", "c"}
    assert not [name for name in world.log.committed(world.log.topics.decisions) if "/a" in name]


def test_a_command_that_fails_in_a_library_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    world = opened()

    def broken(*_: object) -> None:
        raise ArithmeticError("by the test")

    monkeypatch.setattr("sluice.tuning.session.asking.ask", broken)
    world.ask()
    world.good(0)
    answer = world.ask()
    assert refusal(answer) == ("INTERNAL", "")
    assert "by the test" in answer.refusal.why


def test_a_step_that_fails_is_tried_again_with_the_next_period_and_begins_none(monkeypatch: pytest.MonkeyPatch) -> None:
    world = opened()
    with monkeypatch.context() as patched:
        patched.setattr(tuning_step, "explanation", lambda _: 1 / 0)
        ask = log_pb2.Command(ask=tuning_service_pb2.AskTrialsRequest(session="first", count=1))
        request_id = world.write(ask, "first")
        assert world.loop.hear()
        world.pass_s(1)
        assert not world.loop.hear()
        assert not world.sessions["first"].trials
    world.pass_s(1)
    assert list(world.answer(request_id).trials) == [0]
