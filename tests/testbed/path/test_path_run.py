"""The compiled engine of a path does what the plain one did (``vectors``)."""

import pytest
from pydantic import ValidationError

from testbed.path.memory import CONNECTIONS, THREADS
from testbed.path.run import PathRun
from testbed.path.scenario import PathScenario
from testbed.vectors import assert_as_seen, cases, outline, windows_outline


def made(**more):
    caller = {"cores": 1, "compute_ms": 8, "contention": 0.01, "crosstalk": 0.001, "threads": 12, "connections": 4}
    callee = {"cores": 2, "compute_ms": 9, "wait_ms": 12, "contention": 0.01, "crosstalk": 0.002}
    scenario = {
        "name": "made",
        "seconds": 30,
        "slo_ms": 250,
        "users": 60,
        "think_s": 0.2,
        "load": [[0, 0.2], [10, 1.0], [20, 0.3]],
        "caller": caller | more.pop("caller", {}),
        "callee": callee | more.pop("callee", {}),
    }
    return PathScenario.model_validate(scenario | more)


@pytest.mark.parametrize("case", cases("path"))
def test_what_the_plain_engine_did(case):
    """One caller; callers that come, go and drain; a full queue. Both pools are resized in between."""
    scenario = PathScenario.model_validate(case["scenario"])
    run, readings = PathRun(scenario, case["seed"]), []
    for second, pool, size in [*case["resizes"], (scenario.seconds, "", 0)]:
        run.until(second)
        for item in (THREADS, CONNECTIONS):
            readings += windows_outline(run.windows(item, second - 6.0, second, 100, 120.0))
        if pool:
            run.resize(pool, size)
    readings += [outline(part) for part in run.outcomes()]
    assert_as_seen(readings, case["seen"])


def test_callers_come_and_go_and_drain():
    events = [{"at_s": 6, "replicas": 3}, {"at_s": 15, "replicas": 1}, {"at_s": 22, "replicas": 2}]
    run = PathRun(made(events=events, caller={"threads": 40, "connections": 2}, users=120), 1)
    run.until(30.0)
    assert run.replicas == 2
    assert run.windows(THREADS, 10.0, 14.0, 100, 120.0).own.instances.max() == 3
    assert run.windows(THREADS, 24.0, 30.0, 100, 120.0).own.instances.max() == 2


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match="size must be an integer from 1 to 256, got 257"):
        PathRun(made(), 1).resize(THREADS, 257)
    with pytest.raises(ValidationError, match="19 instances over the run are not legal; legal: <= 16"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 6, "replicas": 1}, {"at_s": 7, "replicas": 10}])
    with pytest.raises(ValidationError, match="in the order of their times"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 4, "replicas": 1}])
    with pytest.raises(ValidationError, match=r"events\[\].replicas is legal without a scaler only"):
        made(scaler={"highest": 2, "every_s": 1, "ready_s": 1}, events=[{"at_s": 5, "replicas": 2}])
    with pytest.raises(ValidationError, match="3 replicas are not legal with this scaler"):
        made(scaler={"highest": 2, "every_s": 1, "ready_s": 1}, caller={"replicas": 3})


FRONT = {"cores": 1, "compute_ms": 2, "threads": 500}
FIXED = {"sigma": 0, "caller": {"contention": 0, "crosstalk": 0}, "callee": {"contention": 0, "crosstalk": 0}}


def test_a_front_computes_first_and_its_calls_wait_for_threads():
    """One user: 2 ms in the front, 8 in the caller, 9 and 12 in the callee."""
    run = PathRun(made(front=FRONT, users=1, load=[[0, 1]], **FIXED), 1)
    run.until(30.0)
    assert run.outcomes()[1] == pytest.approx(0.031)
    threads, connections = (run.windows(pool, 10.0, 20.0, 1000, 30.0) for pool in (THREADS, CONNECTIONS))
    for durations, ms in (
        (threads.own_durations_ns, 29),
        (threads.judge_durations_ns, 29),
        (connections.own_durations_ns, 21),
        (connections.judge_durations_ns, 29),
    ):
        assert durations / 1e6 == pytest.approx(ms)
    assert (threads.judge.good == threads.own.completions).all()
    assert threads.waiting_ns.sum() == connections.own.busy_ns.sum()


def test_requests_and_data_change():
    """One user: 8 ms and 9 with 12 of waiting; from 10 s on 16 ms, from 20 s on 36 of waiting too."""
    events = [{"at_s": 10, "compute": 2.0}, {"at_s": 20, "wait": 3.0}]
    run = PathRun(made(users=1, load=[[0, 1]], events=events, **FIXED), 1)
    run.until(30.0)
    at_s, latency_s = run.outcomes()
    for since, until, ms in ((0, 10, 29), (10.1, 20, 37), (20.1, 30, 61)):
        assert latency_s[(at_s >= since) & (at_s < until)] * 1e3 == pytest.approx(ms)


def test_behind_a_front_who_waits_for_a_thread_is_in_its_calls_only():
    """60 users ask for more than the caller's core can do, 1 / 8 ms; four have a thread, the others wait before it."""
    run = PathRun(made(front=FRONT, load=[[0, 1]], caller={"threads": 4}, users=60, sigma=0), 1)
    run.until(30.0)
    threads = run.windows(THREADS, 10.0, 20.0, 1000, 1000.0)
    assert threads.own.busy_ns / 1e9 == pytest.approx(4.0, abs=0.01)
    assert (threads.judge.busy_ns / 1e9).mean() == pytest.approx(4.0 + run.queued(THREADS), abs=4)
    assert run.in_use(THREADS) == 4
    assert run.queued(THREADS) > 20


def test_a_busy_tier_scales_out_once_the_new_one_is_ready_and_in_again():
    """A caller's core at 100 % from 1 s on: looked at each 2 s, a second serves from 2 + 3 s on, a third 2 s and 3 s
    after that. Four looks under 30 % take one away."""
    scaler = {"highest": 3, "every_s": 2, "ready_s": 3}
    load = [[0, 1.0], [14, 1.0], [14.1, 0.01]]
    caller = {"threads": 40, "connections": 40, "contention": 0, "crosstalk": 0}
    callee = {"compute_ms": 1, "contention": 0, "crosstalk": 0}
    run = PathRun(made(front=FRONT, scaler=scaler, load=load, users=200, caller=caller, callee=callee), 1)
    run.until(30.0)
    assert run.scaled[:2] == [(5.0, 2), (10.0, 3)]
    assert run.scaled[2][1] == 2
    assert run.scaled[2][0] > 14 + 3 * 2
    assert run.windows(THREADS, 11.0, 13.0, 1000, 120.0).own.instances.max() == 3


def test_no_more_instances_are_built_than_there_is_room_for():
    """A load that comes and goes: with a look each 0.5 s there would be more than 16 over the run."""
    load = [point for at in range(0, 30, 2) for point in ([at, 1.0], [at + 0.4, 1.0], [at + 0.41, 0.01])]
    run = PathRun(made(scaler={"highest": 16, "every_s": 0.1, "ready_s": 0}, load=load, users=400), 1)
    run.until(30.0)
    assert len([1 for (_, new), (_, old) in zip(run.scaled[1:], run.scaled, strict=False) if new > old]) <= 15
