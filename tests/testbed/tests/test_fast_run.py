"""The compiled engine does what the plain one does, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.compiled import draws
from testbed.distributions import stream
from testbed.single.plain import PlainRun
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario

from .same import assert_same_windows

USL = {"contention": 0.02, "crosstalk": 0.001}
LAWS = {
    "usl": {"kind": "usl"},
    "cliff": {"kind": "cliff", "at": 4, "cost": 0.1},
    "convoy": {"kind": "convoy", "at": 2, "cost": 1.5},
    "pauses": {"kind": "pauses", "at": 10, "cost": 150},
}


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


def drive(run, resizes):
    """The run with sizes applied at these seconds, and all that can be seen of it after each."""
    seen = []
    for second, size in [*resizes, (30.0, None)]:
        run.until(second)
        seen.append((run.in_use, run.queued, run.core_seconds(), run.windows(second - 7.0, second, 100, 120.0)))
        if size:
            run.resize(size)
    return seen


def assert_same(scenario, resizes=(), seed=1):
    fast, plain = FastRun(scenario, seed), PlainRun(scenario, seed)
    for ours, theirs in zip(drive(fast, resizes), drive(plain, resizes), strict=True):
        assert ours[:3] == theirs[:3]
        assert_same_windows(ours[3], theirs[3])
    for ours, theirs in zip(fast.outcomes(), plain.outcomes(), strict=True):
        assert np.array_equal(ours, theirs)
    assert not scenario.scaler or fast.scaled == plain.scaled
    return fast


@pytest.mark.parametrize("service", [USL, {}], ids=["on top", "alone"])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_each_law(law, service):
    run = assert_same(made(law=law, service=service), [(5.0, 12), (12.5, 30), (14.0, 3), (18.0, 8)])
    assert run.finished > 1500


def test_events():
    events = [
        {"at_s": 4, "compute": 2.0},
        {"at_s": 9.5, "wait": 5.0, "slo_ms": 100},
        {"at_s": 15, "compute": 1.0, "cores": 0.5},
        {"at_s": 22, "wait": 1.0, "cores": 1.0},
    ]
    run = assert_same(made(events=events), [(12.0, 10)])
    assert [cores for _, cores in run.scaled] == [1.0, 2.0]
    assert [run.scenario.slo_ms_at(second) for second in (9.4, 9.5, 30.0)] == [250, 100, 100]


def test_a_scaler():
    scaler = {"lowest": 2, "highest": 4, "step": 2, "every_s": 1.5}
    run = assert_same(made(scaler=scaler), [(12.0, 10)])
    assert [cores for _, cores in run.scaled] == [4.0, 2.0]


@pytest.mark.parametrize("law", [LAWS["usl"], LAWS["pauses"]], ids=["usl", "pauses"])
def test_a_dependency(law):
    assert_same(made(dependency={"slots": 2, "ms": 12.0}, law=law, service={"wait_ms": 0}), [(11.0, 12), (15.0, 3)])


def test_no_time_varies():
    """Then many things happen at once, and their order is all that tells them apart."""
    for law in LAWS.values():
        assert_same(made(law=law, service={"sigma": 0.0}, dependency={"slots": 2, "ms": 4.0}), [(6.0, 20), (13.0, 4)])


def test_who_finds_the_queue_full_fails_at_once():
    """10,500 users and one thread: it serves some 83 a second, and 10,000 fit into the queue."""
    scenario = made(users=10_500, load=[[0, 1.0]], service={"threads": 1}, seconds=2, warm_up_s=0)
    fast, plain = FastRun(scenario, 1), PlainRun(scenario, 1)
    for run in (fast, plain):
        run.until(2.0)
    assert np.isinf(fast.outcomes()[1]).sum() > 100
    assert np.array_equal(fast.outcomes(), plain.outcomes())
    ours = fast.windows(0.0, 2.0, 100, 250.0)
    assert_same_windows(ours, plain.windows(0.0, 2.0, 100, 250.0))
    assert ours.judge.errors.sum() > 100
    assert ours.own.errors.sum() == 0


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 64)), max_size=6).map(sorted),
    st.sampled_from(list(LAWS)),
    st.integers(0, 5),
    st.integers(1, 1000),
)
def test_any_resizes(resizes, law, slots, seed):
    dependency = {"slots": slots, "ms": 3.0}
    assert_same(made(users=12, law=LAWS[law], dependency=dependency), [(float(at), size) for at, size in resizes], seed)


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
