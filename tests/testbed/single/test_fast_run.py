"""The compiled engine of one service does what the plain one did (``vectors``), whatever the steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.compiled import draws
from testbed.distributions import stream
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario
from testbed.vectors import assert_as_seen, cases, outline, windows_outline


def made(**more):
    """Up to 40 users on 2 cores, which they fill at the peak."""
    service = {"cores": 2, "compute_ms": 12, "wait_ms": 8, "sigma": 0.5, "threads": 5}
    scenario = {
        "name": "made",
        "seconds": 30,
        "slo_ms": 250,
        "users": 40,
        "think_s": 0.15,
        "load": [[0, 0.3], [10, 1.0], [20, 0.2]],
        "service": service | more.pop("service", {}),
    }
    return Scenario.model_validate(scenario | more)


@pytest.mark.parametrize("case", cases("single"))
def test_what_the_plain_engine_did(case):
    """Each law, alone and on top of the CPU's; events, a scaler, a dependency, a full queue; resizes in between."""
    scenario = Scenario.model_validate(case["scenario"])
    run, readings = FastRun(scenario, case["seed"]), []
    for second, size in [*case["resizes"], (scenario.seconds, None)]:
        run.until(second)
        windows = run.windows(second - 7.0, second, 100, 120.0)
        readings += [[run.in_use, run.queued, run.core_seconds()], *windows_outline(windows)]
        if size:
            run.resize(size)
    readings += [outline(part) for part in run.outcomes()]
    if scenario.scaler:
        readings.append(outline(run.scaled))
    assert_as_seen(readings, case["seen"])


def test_events_change_cores_and_slo():
    events = [{"at_s": 9.5, "slo_ms": 100}, {"at_s": 15, "cores": 0.5}, {"at_s": 22, "cores": 1.0}]
    run = FastRun(made(events=events), 1)
    run.until(30.0)
    assert [cores for _, cores in run.scaled] == [1.0, 2.0]
    assert [run.scenario.slo_ms_at(second) for second in (9.4, 9.5, 30.0)] == [250, 100, 100]


def test_the_short_requests_pass_the_long_ones_where_threads_abound():
    """One in 20 computes 40 times as long, and with 40 in flight three times that: fewer are completed."""
    law = {"kind": "bimodal", "share": 0.05, "factor": 40, "cost": 0.05}
    middle, finished = [], []
    for threads in (3, 64):
        run = FastRun(made(law=law, load=[[0, 1.0]], service={"threads": threads}), 1)
        run.until(30.0)
        middle.append(np.median(run.outcomes()[1]))
        finished.append(run.finished)
    assert middle[1] < middle[0] / 2
    assert finished[1] < finished[0]


def test_an_event_changes_the_time_of_the_lock():
    """Held 10 ms: 100 a second at most; then 40 ms: 25 a second, and a twentieth less for each waiter beyond 2."""
    events = [{"at_s": 15, "hold": 4.0}]
    law = {"kind": "convoy", "at": 2, "cost": 10}
    service = {"cores": 8, "compute_ms": 1, "wait_ms": 0, "threads": 3}
    run = FastRun(made(law=law, load=[[0, 1.0]], service=service, events=events), 1)
    run.until(15.0)
    before = run.finished
    run.until(30.0)
    assert before / 15 == pytest.approx(100, rel=0.02)
    assert (run.finished - before) / 15 == pytest.approx(25, rel=0.02)


def test_who_finds_the_queue_full_fails_at_once():
    """10,500 users and one thread: it serves some 83 a second, and 10,000 fit into the queue."""
    run = FastRun(made(users=10_500, load=[[0, 1.0]], service={"threads": 1}, seconds=2, warm_up_s=0), 1)
    run.until(2.0)
    assert np.isinf(run.outcomes()[1]).sum() > 100
    windows = run.windows(0.0, 2.0, 100, 250.0)
    assert windows.judge.errors.sum() > 100
    assert windows.own.errors.sum() == 0


def test_windows_show_how_long_requests_wait_for_what_they_call():
    """8 ms on average, then 24. Of 700 and more the mean is within 3 x 0.53 / sqrt(700) of that, 6 %."""
    run = FastRun(made(events=[{"at_s": 15, "wait": 3.0}]), 1)
    run.until(30.0)
    for since, until, wait_s in ((1.0, 15.0, 0.008), (16.0, 30.0, 0.024)):
        windows = run.windows(since, until, 100, 250.0)
        assert windows.own.completions.sum() > 700
        assert windows.waiting_ns.sum() / windows.own.completions.sum() / 1e9 == pytest.approx(wait_s, rel=0.06)


def test_steps_of_any_length_are_one_run():
    whole, stepped = FastRun(made(), 3), FastRun(made(), 3)
    whole.until(30.0)
    for second in np.arange(0.0, 30.0, 0.37):
        stepped.until(float(second))
    stepped.until(30.0)
    assert np.array_equal(whole.outcomes(), stepped.outcomes())
    assert whole.finished > 1000


def test_looking_changes_nothing():
    looked, other = FastRun(made(), 3), FastRun(made(), 3)
    for second in range(30):
        looked.until(second + 0.5)
        looked.windows(0.0, second, 50, 100.0)
        looked.core_seconds()
    looked.until(30.0)
    other.until(30.0)
    assert np.array_equal(looked.outcomes(), other.outcomes())


@settings(deadline=None)
@given(st.integers(0, 2**31), st.floats(-5, 2), st.floats(0, 2), st.floats(0.01, 100))
def test_draws_are_those_of_the_standard_library(seed, mu, sigma, rate):
    theirs, ours = stream(seed, "x"), draws.words(seed, "x")
    for _ in range(400):
        assert draws.log_normal(ours, mu, sigma) == theirs.lognormvariate(mu, sigma)
        assert draws.exponential(ours, rate) == theirs.expovariate(rate)


def test_what_is_out_of_range_is_refused():
    run = FastRun(made(), 1)
    run.until(10.0)
    with pytest.raises(ValueError, match="must be 10 to 30"):
        run.until(9.0)
    with pytest.raises(ValueError, match="must be 10 to 30"):
        run.until(31.0)
    with pytest.raises(ValueError, match="size must be an integer from 1 to 1024, got 0"):
        run.resize(0)
    with pytest.raises(ValueError, match="bucket_ms"):
        run.windows(0.0, 10.0, 5, 100.0)
    with pytest.raises(ValueError, match="threshold_ms"):
        run.windows(0.0, 10.0, 100, 0.0)
