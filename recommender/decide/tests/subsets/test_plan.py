"""When subsets are solved anew, by a clock of the test's own."""

from dataclasses import replace

import pytest

from sluice.subsets.application import Application, Call, Container, PairRate, Root
from sluice.subsets.latency.training import latency_model
from sluice.subsets.legal import IllegalSubsetsError
from sluice.subsets.plan import missing, plan
from sluice.subsets.state import Cause, Inputs, SubsetState
from sluice_kit.decide.applications import chain, hosts, service

MODEL = latency_model({}, [], 10.0)


def three() -> Application:
    """a -> b -> c with 20 containers each."""
    tree = Call("a", ((Call("b", ((Call("c"),),)),),))
    return replace(chain(), services=tuple(service(name, 20) for name in "abc"), roots=(Root("read", 100.0, tree),))


def started(app: Application) -> SubsetState:
    state, run = plan(None, Inputs(app, MODEL), 0.0)
    assert state is not None
    assert run is not None
    assert run.cause is Cause.START
    return state


def settled(app: Application) -> tuple[SubsetState, float]:
    """Whose weights went all of their way, and when."""
    state, now_s = started(app), 0.0
    while True:
        now_s += 60
        after, run = plan(state, Inputs(app, MODEL), now_s)
        assert after is not None
        if run is None:
            return after, now_s
        assert run.cause is Cause.WEIGHTS
        assert now_s < 3600
        state = after


def with_containers(app: Application, name: str, containers: tuple[Container, ...]) -> Application:
    services = tuple(
        replace(service, containers=containers) if service.name == name else service for service in app.services
    )
    return replace(app, services=services)


def test_where_nothing_changes_nothing_runs() -> None:
    state, now_s = settled(three())
    assert plan(state, Inputs(three(), MODEL), now_s + 1000.0) == (state, None)


def test_a_container_that_goes_is_out_at_once_and_touches_only_its_pairs() -> None:
    app = three()
    state = started(app)
    gone = with_containers(app, "c", app.services[2].containers[1:])
    # Contention and load have moved too, but that is for another time.
    busy = replace(gone, hosts=hosts(0.9, 0.1, 0.1, 0.1), roots=(replace(gone.roots[0], rate_per_s=150.0),))
    after, run = plan(state, Inputs(busy, MODEL), 1.0)
    assert after is not None
    assert run is not None
    assert run.cause is Cause.SCALING
    assert set(run.changed) == {("b", "c")}
    assert run.churn <= 0.1, "a twentieth of one pair's callers, and a budget of a twentieth"
    assert "c-0" not in after.solved.problem.fleets[2].names
    later, next_run = plan(after, Inputs(busy, MODEL), 60.0)
    assert next_run is not None
    assert next_run.cause is Cause.DRIFT
    assert later is not None
    assert later.application is busy


def test_a_drained_one_leaves_and_comes_back() -> None:
    app = three()
    state = started(app)
    first, *rest = app.services[1].containers
    drained = with_containers(app, "b", (replace(first, drained=True), *rest))
    after, run = plan(state, Inputs(drained, MODEL), 1.0)
    assert after is not None
    assert run is not None
    assert "b-0" not in after.solved.problem.fleets[1].names
    back, run = plan(after, Inputs(app, MODEL), 2.0)
    assert back is not None
    assert run is not None
    assert "b-0" in back.solved.problem.fleets[1].names


@pytest.mark.parametrize("at_s", [30.0, 59.0])
def test_drift_waits_for_the_quiet_time(at_s: float) -> None:
    state = started(three())
    busy = replace(three(), hosts=hosts(0.6, 0.3, 0.5, 0.7))
    assert plan(state, Inputs(busy, MODEL), at_s)[1] is None
    _, run = plan(state, Inputs(busy, MODEL), 60.0)
    assert run is not None
    assert (run.cause, run.churn <= 0.05) == (Cause.DRIFT, True)


def test_little_drift_is_none() -> None:
    state, now_s = settled(three())
    near = replace(three(), hosts=hosts(0.15, 0.3, 0.5, 0.7), roots=(replace(three().roots[0], rate_per_s=110.0),))
    assert plan(state, Inputs(near, MODEL), now_s + 1000.0)[1] is None


def test_what_was_learnt_anew_counts_after_the_quiet_time() -> None:
    state = started(three())
    other = latency_model({}, [], 11.0)
    assert plan(state, Inputs(three(), other), 10.0)[1] is None
    _, run = plan(state, Inputs(three(), other), 60.0)
    assert run is not None
    assert run.cause is Cause.TRAINED


def test_what_has_no_meaning_leaves_the_last_good_solution_and_marks_it() -> None:
    state = started(three())
    bad = replace(three(), hosts=hosts(float("nan"), 0.3, 0.5, 0.7))
    after, run = plan(state, Inputs(bad, MODEL), 100.0)
    assert run is None
    assert after is not None
    assert after.solved is state.solved
    assert after.problems == ("hosts 'h0': cpu nan is not legal; legal: 0 to 1",)
    again, _ = plan(after, Inputs(three(), MODEL), 101.0)
    assert again is not None
    assert again.problems == ()


def test_a_service_that_vanishes_is_named_and_the_solution_held() -> None:
    app = three()
    state = started(app)
    after, _ = plan(state, Inputs(replace(app, services=app.services[:2]), MODEL), 1.0)
    assert after is not None
    assert "service 'c' is not known" in after.problems[0]


def test_without_a_solution_what_has_no_meaning_is_an_error() -> None:
    with pytest.raises(IllegalSubsetsError):
        plan(None, Inputs(replace(three(), roots=()), MODEL), 0.0)


def test_what_is_missing_is_named() -> None:
    app = replace(three(), roots=(), pairs=(PairRate("a", "b", 5.0),))
    lines = missing(app, MODEL)
    assert any("no latency samples" in line for line in lines)
    assert any(line.startswith("b: no address of b-0, b-1, b-2") for line in lines)
    assert not any(line.startswith("a: no address") for line in lines), "nobody calls it"
    assert any("one after the other" in line for line in lines)
