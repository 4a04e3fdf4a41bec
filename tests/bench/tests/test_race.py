"""The bridge and the controllers, on windows made by hand and on half a minute of the race."""

import numpy as np
import pytest

from bench.controllers.bridge import samples_of
from bench.controllers.estimated import Bare, Guarded
from bench.controllers.signal import Limiter, Signal, signal_of
from bench.race import RACERS, Result, rows_of, run_one
from sluice.estimate import Estimate, Samples, State
from testbed.columns import Counts
from testbed.fine import PoolWindows
from testbed.presets.sock_shop import CART

MS = 1_000_000


def windows(size: int = 10, in_use: int = 3, durations_ms: tuple[int, ...] = (10, 30)) -> PoolWindows:
    """Three buckets of 100 ms on two instances; in the middle one nothing is in flight."""

    def ints(*values: int) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    return PoolWindows(
        since_ns=0,
        length_ns=100 * MS,
        threshold_ns=245 * MS,
        own=Counts(ints(200 * MS, 0, 400 * MS), ints(2, 0, 1), ints(6, 1, 3), ints(0, 0, 0), ints(6, 1, 3)),
        judge=Counts(ints(0, 0, 0), ints(1, 1, 1), ints(8, 1, 4), ints(0, 0, 0), ints(6, 1, 2)),
        own_durations_ns=np.array(durations_ms, dtype=np.int64) * MS,
        judge_durations_ns=ints(),
        sizes=ints(size, size, size),
        size=size,
        in_use=in_use,
        queued=0,
        count=2,
        cores=2.0,
        replicas=2,
    )


def test_samples_are_per_instance_and_leave_idle_buckets_out() -> None:
    """200 ms on two instances in 100 ms: 1 in flight; 6 good of 8: 30/s. Then 400 ms on one: 4, and 20/s."""
    samples = samples_of(windows())
    assert samples is not None
    assert samples.concurrency.tolist() == [1, 4]
    assert samples.goodput_per_s.tolist() == [30, 20]
    assert samples.throughput_per_s.tolist() == [30, 30]
    assert samples.completions.tolist() == [8, 4]
    assert samples.limit.tolist() == [10, 10]
    assert (samples.instances, samples.caller_judged) == (2, True)


def test_a_signal_is_per_pool() -> None:
    """The fullest bucket has 4 in flight over two pools; (10 + 30) / 2 = 20 ms; 2 in 0.3 s over two pools: 3.33/s."""
    signal = signal_of(windows())
    assert signal is not None
    assert (signal.samples, signal.inflight, signal.dropped) == (2, 2.0, False)
    assert signal.mean_s == pytest.approx(0.020)
    assert signal.p90_s == pytest.approx(0.028)
    assert signal.throughput_per_s == pytest.approx(10 / 3)
    assert signal_of(windows(durations_ms=())) is None


class Told:
    """An estimator that answers what it was told."""

    name = "told"

    def __init__(self, *targets: int | None) -> None:
        self._targets = list(targets)

    def estimate(self, samples: Samples | None) -> Estimate:
        target = self._targets.pop(0)
        if target is None:
            return Estimate(State.LEARNING, ())
        return Estimate(State.PROVIDED, (), target, target, target)


def test_bare_applies_every_target_once_a_window_has_passed() -> None:
    bare = Bare(Told(2, None), 180.0)
    assert bare.decide(179.0, {"p": windows()}) == {}
    assert bare.decide(180.0, {"p": windows()}) == {"p": 2}
    assert bare.decide(195.0, {"p": windows()}) == {}


def test_guarded_cools_down_before_it_shrinks_again() -> None:
    """Grown at 60 s; 15 s later a shrink has to wait for 60 s; without an estimate the last good size is repeated."""
    guarded = Guarded(Told(30, 12, 12, None), 60.0)
    assert guarded.decide(60.0, {"p": windows(10)}) == {"p": 30}
    assert guarded.decide(75.0, {"p": windows(30)}) == {"p": 30}
    assert guarded.decide(120.0, {"p": windows(30)}) == {"p": 12}
    assert guarded.decide(135.0, {"p": windows(12)}) == {"p": 12}
    assert guarded.named == 3


class Half:
    limit = 7.9
    enough = 2

    def update(self, seen: Signal) -> float:
        return self.limit


def test_a_limiter_rounds_down_and_skips_thin_windows() -> None:
    limiter = Limiter({"p": Half()})
    assert limiter.decide(1.0, {"p": windows()}) == {"p": 7}
    assert limiter.decide(2.0, {"p": windows(durations_ms=(10,))}) == {}


def test_ratios_above_one_favour_the_controller() -> None:
    results = {
        "hardware-only": Result(1, 4.0, 10, (10,)),
        "sct": Result(1, 3.0, 10, (10,)),
        "x": Result(1, 2.0, 9, (10, 5)),
    }
    assert rows_of("case", results)[2] == (
        "case: x",
        "p95 1,000 ms, p99 2,000 ms, goodput 9/s, hardware-only/x 2.00, sct/x 1.50, size 5..10, at the end 5",
    )


@pytest.mark.parametrize("name", list(RACERS))
def test_every_racer_runs_and_hardware_only_keeps_its_size(name: str) -> None:
    result = run_one(CART.build(700, {}, lambda _: 1.0), RACERS[name], 25.0, seed=1)
    assert 0 < result.p95_s <= result.p99_s < 1
    assert result.goodput_per_s == pytest.approx(100, rel=0.25)  # 700 users, a request each 7 s and a little
    if name == "hardware-only":
        assert result.sizes == (10,)
