"""The bridge and the controllers, on windows made by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bench.controllers.bridge import samples_of
from bench.controllers.collected import Collected, in_force, measured
from bench.controllers.estimated import Published
from bench.controllers.in_loop import NOTHING, InLoop, Sized
from bench.controllers.signal import Limiter, Signal, signal_of
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.model.states import State
from sluice.pools.estimate import Estimate, Samples
from testbed.columns import Counts
from testbed.fine import PoolWindows
from testbed.presets.cart_bursts import cart_bursts
from testbed.presets.sock_shop import CART_THREADS
from testbed.simulation import Simulation

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
        core_seconds=1.0,
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
    assert (signal.samples, signal.inflight, signal.in_use, signal.dropped) == (2, 2.0, 1.5, False)
    assert (signal.until_s, signal.seconds, signal.sizes.tolist()) == (0.3, pytest.approx(0.3), [10, 10, 10])
    assert (signal.threshold_s, signal.cores, signal.cpu) == (0.245, 2.0, 0.0)
    assert signal.mean_s == pytest.approx(0.020)
    assert signal.quantile_s(0.9) == pytest.approx(0.028)
    assert signal.throughput_per_s == pytest.approx(10 / 3)
    assert signal_of(windows(durations_ms=())) is None


def test_a_signal_has_the_cpu_since_the_last_window() -> None:
    """Two replicas with 2 cores for 0.3 s: 1.2 core seconds, of which 0.9 were used."""
    later = replace(windows(), since_ns=300 * MS, core_seconds=1.9)
    signal = signal_of(later, windows())
    assert signal is not None
    assert signal.cpu == pytest.approx(0.75)


class Fixed:
    """An estimator that answers what it was told."""

    name = "fixed"

    def __init__(self, *targets: int | None) -> None:
        self._targets = list(targets)

    def estimate(self, samples: Samples | None) -> Estimate:
        target = self._targets.pop(0)
        if target is None:
            return Estimate(State.LEARNING, ())
        return Estimate(State.PROVIDED, (), target, target, target)


def test_published_applies_every_target_once_a_window_has_passed() -> None:
    published = Published(Fixed(2, None), 180.0)
    assert published.decide(179.0, {"p": windows()}) == {}
    assert published.decide(180.0, {"p": windows()}) == {"p": 2}
    assert published.decide(195.0, {"p": windows()}) == {}
    assert published.named == 1


def test_published_grows_a_full_pool_unless_the_knee_lies_clearly_below_its_size() -> None:
    """One of two buckets has 4 in flight: a pool of 4 was full in half of them. A quarter of 4 is 1; 0.8 * 4 = 3.2."""
    published = Published(Fixed(None, 4, 3), 60.0)
    assert [published.decide(60.0, {"p": windows(4)}) for _ in range(3)] == [{"p": 5}, {"p": 5}, {"p": 3}]
    assert published.named == 1


class Half:
    limit = 7.9
    enough = 2
    period_s = 1.0

    def update(self, signal: Signal) -> float:
        return self.limit

    def rescale(self, factor: float) -> None:
        pass


def test_a_limiter_rounds_down_and_skips_thin_windows() -> None:
    limiter = Limiter({"p": Half()})
    assert limiter.decide(1.0, {"p": windows()}) == {"p": 7}
    assert limiter.decide(2.0, {"p": windows(durations_ms=(10,))}) == {}


def cart(size: int) -> Sized:
    pool = Simulation(cart_bursts(1, {CART_THREADS: size}), 1, lambda _: None).pools[CART_THREADS]
    return Sized.of(pool, 245.0, (1, 256))


def full(size: int, second: int) -> PoolWindows:
    """The second before: `size` in flight, 10 of each complete."""
    ten = np.ones(10, dtype=np.int64)
    counts = Counts(size * 100 * MS * ten, ten, size * ten, 0 * ten, size * ten)
    made = replace(windows(size), since_ns=(second - 1) * 1_000 * MS, own=counts, judge=counts, sizes=size * ten)
    return replace(made, count=1, cores=2.0, replicas=1)


def test_the_loop_grows_a_full_pool_as_the_actuator_does() -> None:
    """What is full and grew no slower is tried larger, twice as large at most."""
    loop, size, sizes = InLoop([cart(4)]), 4, [4]
    for second in range(1, 21):
        size = loop.decide(float(second), {CART_THREADS: full(size, second)}).get(CART_THREADS, size)
        sizes.append(size)
    assert sizes[-1] > 4
    assert max(after / before for before, after in pairwise(sizes)) <= 2
    course = loop.course(CART_THREADS)
    assert [item.at_s for item in course] == list(range(1, 21))
    assert [item.current for item in course] == sizes[:-1]
    assert (course[0].state, course[0].codes[0], course[0].best) == ("LEARNING", "TOO_LITTLE", None)
    assert course[-1].best is not None


def test_a_loop_whose_model_names_nothing_holds() -> None:
    loop = InLoop([cart(4)], NOTHING)
    assert [loop.decide(float(second), {CART_THREADS: full(4, second)}) for second in range(1, 21)] == [{}] * 20


def test_the_loop_hears_of_scaling_and_learns_the_new_limit_apart() -> None:
    loop = InLoop([cart(4)], bucket_ms=100)
    for second in range(1, 9):
        cores = 2.0 if second < 5 else 3.0
        loop.decide(float(second), {CART_THREADS: replace(full(4, second), cores=cores)})
    (state,) = loop.states.values()
    assert {level.cores for level in state.learnt.evidence.levels} == {2.0, 3.0}


def test_pools_of_one_path_are_not_tried_at_once() -> None:
    """Connections of one service to two others, both full from the start: their sizes change by turns. (Its threads
    would be held, as they wait for connections.)"""
    to_b = Sized("to b", PoolKey("a", "client", "b"), 4, "b", 2.0, 245.0, (1, 256))
    to_c = Sized("to c", PoolKey("a", "client", "c"), 4, "c", 2.0, 245.0, (1, 256))
    loop, sizes = InLoop([to_b, to_c]), {"to b": 4, "to c": 4}
    changes: dict[str, list[int]] = {"to b": [], "to c": []}
    for second in range(1, 41):
        records = {name: full(size, second) for name, size in sizes.items()}
        for name, size in loop.decide(float(second), records).items():
            sizes[name] = size
            changes[name].append(second)
    assert all(changes.values())
    probes = {name: {item.at_s for item in loop.course(name) if item.basis == "PROBE"} for name in sizes}
    assert not probes["to b"] & probes["to c"]


def test_windows_become_what_the_collector_gives() -> None:
    """The bucket in the middle is empty: the others start at 0 and 200 ms."""
    collected = measured(windows())
    assert collected is not None
    assert collected.bucket_start_ms.tolist() == [0, 200]
    assert collected.samples.concurrency.tolist() == [1, 4]


def test_what_is_new_is_added_to_what_was_collected() -> None:
    """Each bucket once, per pool: 2 of this size from 1 s on. The empty one is a bucket too."""
    key, collected = PoolKey("cart", "server", ""), Collected()
    collected.take(key, 1.0, windows())
    collected.take(key, 2.0, replace(windows(), since_ns=100 * MS))
    config = Config.model_validate({"pools": [{"service": "cart", "side": "server", "threshold": "1s"}]})
    whole = collected.collect(config, {}, 2_000).complete[key]
    assert whole is not None
    assert whole.start_ms.tolist() == [0, 100, 200, 300]
    assert whole.concurrency.tolist() == [1, 0, 2, 2]
    assert whole.completions.tolist() == [3, 0.5, 1.5, 1.5]


def test_a_count_is_in_force_from_when_it_was_seen() -> None:
    assert in_force([(5.0, 1), (10.0, 2)], np.array([3.0, 7.0, 10.0, 12.0])).tolist() == [1, 1, 2, 2]
