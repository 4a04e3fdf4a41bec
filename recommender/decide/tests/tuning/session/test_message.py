"""A session's record: both ways the same, and what is refused."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.events import Applied, Ask, Stop, Tell, Tick
from sluice.tuning.session.message import SessionError, read, read_plan, session_message, write
from sluice.tuning.session.session import MeasuredRoot, Plan, Purpose, Session, Trial
from sluice.tuning.session.step import step
from sluice.tuning.space import Float, Parameter, Space
from sluice.tuning.v1.session_pb2 import Plan as PlanMessage
from sluice.tuning.v1.session_pb2 import TuningSession
from sluice_kit.decide.spaces import MIXED, spaces

from .runs import PLAN, good, opened, run

FULL = replace(
    PLAN,
    objective=Objective(
        ((Metric.P99, 1.0), (Metric.GOODPUT, -0.25)), (TuningSlo(Metric.ERRORS, 0.0),), threshold_ms=250.0
    ),
    first=({**MIXED.default, "model": "adaptive", "window": 7},),
)


def test_a_whole_session_is_read_as_it_was_written() -> None:
    session = run(opened(FULL))
    assert read(write(session)) == session
    assert session.gain is not None


def test_a_session_that_is_read_back_at_every_step_goes_on_alike() -> None:
    """As one whose process is killed after each record: `kill -9` loses nothing and changes nothing."""

    def through(session: Session, event: Ask | Tell, now_ms: int) -> Session:
        after, _ = step(read(write(session)), event, now_ms)
        return after

    for method in ("dds", "annealing", "swarm", "cma_es", "tpe", "gaussian_process"):
        plan = replace(PLAN, method=method, budget=8, parallel=3)
        killed, kept = opened(plan), opened(plan)
        for now_ms in range(2_000, 20_000, 1_000):
            killed = through(killed, Ask(2), now_ms)
            kept, _ = step(kept, Ask(2), now_ms)
            for trial in kept.flying[:2]:
                killed = through(killed, Tell(trial.number, good(trial)), now_ms)
                kept, _ = step(kept, Tell(trial.number, good(trial)), now_ms)
        assert killed == kept
        assert len(kept.searched) == 9


EVENTS = st.one_of(
    st.builds(Ask, st.integers(0, 3), st.sampled_from(("", "a", "b"))),
    st.builds(
        Tell,
        st.integers(-1, 12),
        st.one_of(
            st.floats(allow_nan=True).map(lambda value: Outcome(TrialVerdict.GOOD, value)),
            st.floats(0, 9).map(lambda value: Outcome(TrialVerdict.UNSAFE, excess=value)),
            st.just(Outcome(TrialVerdict.FAILED, why="refused")),
            st.floats(-1e9, 1e9).map(lambda value: Outcome(TrialVerdict.HOPELESS, value)),
        ),
    ),
    st.builds(Applied, st.integers(-1, 12), st.integers(0, 10**7)),
    st.just(Tick()),
    st.just(Stop("enough")),
)


@given(spaces(), st.lists(st.tuples(EVENTS, st.integers(0, 400_000)), max_size=15), st.integers(1, 3))
def test_any_session_is_read_as_it_was_written_and_keeps_every_outcome(
    space: Space, events: list[tuple[Ask | Tell | Applied | Tick | Stop, int]], parallel: int
) -> None:
    session = opened(replace(PLAN, space=space, method="random_search", parallel=parallel, root=MeasuredRoot("web")))
    outcomes: dict[int, Outcome] = {}
    now_ms = 1_000
    for event, later_ms in events:
        now_ms += later_ms
        session, _ = step(session, event, now_ms)
        assert read(write(session)) == session
        reported = {trial.number: trial.outcome for trial in session.trials if trial.outcome is not None}
        assert outcomes.items() <= reported.items()  # never lost, never replaced
        outcomes = reported
        assert len(session.flying) <= parallel
        assert sorted(trial.place for trial in session.trials if trial.place is not None) == list(range(len(reported)))
        assert all(not space.problems(trial.configuration) for trial in session.trials)
        assert len(session.searched) <= session.plan.budget + 1


def test_what_is_no_session_is_refused_with_its_field() -> None:
    session = run(opened())
    with pytest.raises(SessionError, match="read a tuning session"):
        read(b"\xff")
    message = session_message(session)
    with pytest.raises(SessionError, match=r"objective\.minimize: no metric is not legal"):
        read(TuningSession(plan=PlanMessage(name="x", target="y", space=message.plan.space)).SerializeToString())
    message = session_message(session)
    message.trials[3].outcome.value = math.nan
    with pytest.raises(SessionError, match=r"trials\[3\].outcome.value: nan is not legal"):
        read(message.SerializeToString())
    message = session_message(session)
    message.trials[2].number = 7
    with pytest.raises(SessionError, match=r"trials\[2\].number: 7 is not legal; legal: 2"):
        read(message.SerializeToString())
    message = session_message(session)
    message.trials[1].configuration.settings[0].value.integer = 0
    with pytest.raises(SessionError, match=r"trials\[1\].threads: 0 is not legal; legal: 1 to 256, whole"):
        read(message.SerializeToString())
    message = session_message(session)
    message.trials[1].ClearField("outcome")
    with pytest.raises(SessionError, match="both with an outcome, neither without one"):
        read(message.SerializeToString())
    message = session_message(session)
    message.plan.space.parameters[0].ClearField("integer")
    with pytest.raises(SessionError, match=r"parameters\[0\].kind: is missing"):
        read(message.SerializeToString())
    message = session_message(session)
    message.plan.objective.terms[0].metric = 99
    with pytest.raises(SessionError, match=r"objective.terms\[0\].metric: 99 is not legal; legal: mean_ms, "):
        read(message.SerializeToString())
    message = session_message(session)
    message.phase = 0
    with pytest.raises(SessionError, match="phase: 0 is not legal"):
        read(message.SerializeToString())


def test_what_is_absent_in_a_plan_has_its_default() -> None:
    message = session_message(opened()).plan
    for field in ("method", "budget", "parallel", "pairs", "patience_ms", "window"):
        message.ClearField(field)
    loaded = read_plan(message)
    assert (loaded.method, loaded.budget, loaded.parallel, loaded.pairs, loaded.patience_ms) == (
        "dds",
        15,
        1,
        5,
        600_000,
    )
    assert loaded.window == Plan("", "", MIXED, FULL.objective).window


def test_the_largest_session_is_a_record_of_under_a_megabyte() -> None:
    """500 trials of 40 parameters, with names of 24 characters: what `create.MOST_VALUES` allows."""
    space = Space(tuple(Parameter(f"{index:024}", Float(0, 1), 0.5) for index in range(40)))
    session = opened(replace(PLAN, space=space, budget=480, pairs=10, method="random_search"))
    trial = Trial(0, Purpose.SEARCH, space.default, (0.123456789,) * 40, "", 1, 2)
    session = replace(session, trials=tuple(replace(trial, number=number) for number in range(500)))
    assert len(write(session)) < 1_000_000
