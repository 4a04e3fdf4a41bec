"""The loop after scaling, a release and a drift, stepped through time with a fake clock."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from fakes import BUCKET_MS, CART, FakeClock, FakeCollector, FakeHistory, config, hump, measured
from sluice.collect import Measured
from sluice.control.answer import Answer
from sluice.control.loop import ControlLoop
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Store


@dataclass
class Scaled:
    """A world in which windows end now, and autoscalers tell."""

    clock: FakeClock = field(default_factory=FakeClock)
    history: FakeHistory = field(default_factory=FakeHistory)
    collector: FakeCollector = field(default_factory=FakeCollector)
    told: Scalings = field(default_factory=Scalings)
    store: Store = field(default_factory=Store)
    sizes: Sizes = field(default_factory=Sizes)

    def __post_init__(self) -> None:
        self.loop = ControlLoop(
            config(), self.collector, self.history, self.store, self.sizes, self.clock, scalings=self.told
        )

    def step(self, after_s: float = 5) -> Answer:
        """A period later; cart's answer."""
        self.clock.pass_s(after_s)
        self.loop.step()
        answer = self.store.get(CART)
        assert answer is not None
        return answer

    def tell(self, cores: float | None = None, version: str = "") -> None:
        event = Scaling(self.clock(), "cart", cores, None, version, "vpa")
        self.told.notify(event)
        self.history.told.append(event)

    def see(self, top: float, seconds: float = 5, highest: float = 36) -> Answer:
        """Cart's answer a period later, its window of one minute a hump."""
        self.collector.pools[CART] = shuffled(hump(self.clock() + round(1000 * seconds), highest, top))
        return self.step(seconds)


def brief(answer: Answer) -> tuple[str, int | None]:
    return answer.content.state, answer.content.target


def codes(answer: Answer) -> tuple[str, ...]:
    return answer.content.codes


def shuffled(measured: Measured) -> Measured:
    """The same buckets in another order of time: any 10 s of them cover the whole range of concurrency."""
    order = np.random.default_rng(1).permutation(len(measured.samples))
    return Measured(measured.samples.take(order), measured.bucket_start_ms, BUCKET_MS)


def learnt(world: Scaled, cores: float, top: float) -> int:
    """Tells a CPU limit, waits for a curve of it, and gives its target."""
    world.tell(cores)
    answer = world.see(top, seconds=70)
    assert answer.content.state == "PROVIDED"
    assert answer.content.target is not None
    return answer.content.target


def test_samples_from_before_a_scaling_are_not_mixed_with_newer_ones() -> None:
    world = Scaled()
    learnt(world, 1.0, top=12)
    world.tell(2.0)
    answer = world.see(top=24)
    assert answer.content.state == "LEARNING"
    assert answer.measured is not None
    assert len(answer.measured.samples) == 50  # 5 s of 100 ms
    assert answer.ground.since_ms == world.clock() - 5_000
    assert "SCALED" in codes(answer)


def test_a_combination_seen_before_gives_its_size_until_the_data_speak_and_they_speak_sooner() -> None:
    world = Scaled()
    at_one = learnt(world, 1.0, top=12)
    at_two = learnt(world, 2.0, top=24)
    assert at_two > at_one + 6
    world.tell(1.0)
    answer = world.see(top=12)
    assert brief(answer) == ("LEARNING", at_one)
    assert "REMEMBERED" in codes(answer)
    assert answer.ground.prior is not None
    assert answer.ground.prior.found.target == at_one
    for _ in range(2):
        answer = world.see(top=12)
    assert answer.content.state == "PROVIDED"  # after 15 s instead of 30
    assert "AGREES_WITH_MEMORY" in codes(answer)


def test_an_unknown_limit_is_scaled_to() -> None:
    world = Scaled()
    at_one = learnt(world, 1.0, top=12)
    world.tell(2.0)
    answer = world.see(top=24)
    assert brief(answer) == ("LEARNING", 2 * at_one)
    assert "REMEMBERED_SCALED" in codes(answer)
    for _ in range(3):
        again = world.see(top=24, seconds=1)
        assert again.content.target == answer.content.target  # once, not once a period


def full(world: Scaled, size: int, rate: float = 500.0) -> Measured:
    """A minute that ends with the next period, its pool full half of the time, at `rate`; else 60 % full, at 300/s."""
    x, goodput = np.tile([0.6 * size, float(size)], 300), np.tile([300.0, rate], 300)
    return shuffled(measured(x, goodput, world.clock() + 5_000))


def test_a_pool_without_a_curve_follows_its_cpu_limit_and_comes_back() -> None:
    world = Scaled()

    def period(size: int) -> Answer:
        world.sizes.report(CART, size, world.clock())
        world.collector.pools[CART] = full(world, size)
        return world.step()

    world.tell(2.0)
    assert period(5).content.target is None
    world.tell(4.0)
    answer = period(5)
    assert (brief(answer), "CARRIED_OVER" in codes(answer)) == (("LEARNING", 10), True)
    assert period(10).content.target is None  # applied: nothing more to say
    world.clock.pass_s(60)
    world.tell(2.0)
    assert period(10).content.target == 5
    assert period(5).content.target is None
    world.tell(4.0)
    assert period(5).content.target == 10


def test_a_pool_that_thrashes_when_it_is_full_does_not_follow_its_cpu_limit() -> None:
    world = Scaled()
    world.tell(2.0)
    for cores in (2.0, 4.0):
        world.tell(cores)
        world.sizes.report(CART, 60, world.clock())
        world.collector.pools[CART] = full(world, 60, rate=200.0)
        assert "CARRIED_OVER" not in codes(world.step())


def test_replicas_change_nothing_per_instance() -> None:
    world = Scaled()
    learnt(world, 1.0, top=12)
    world.told.notify(Scaling(world.clock(), "cart", None, 7, "", "hpa"))
    assert world.see(top=12).content.state == "PROVIDED"


def slower(measured: Measured, factor: float) -> Measured:
    """Requests take `factor` times as long: so much less completes at the same concurrency."""
    samples = measured.samples
    return Measured(
        type(samples)(
            samples.concurrency,
            samples.goodput_per_s / factor,
            samples.throughput_per_s / factor,
            samples.completions,
            samples.limit,
            samples.instances,
            samples.caller_judged,
        ),
        measured.bucket_start_ms,
        BUCKET_MS,
    )


def drifting(world: Scaled, new_s: int) -> Answer:
    """A period later, with the last `new_s` seconds from a service that takes 1.5 times as long."""
    window = shuffled(hump(world.clock() + 5_000))
    changed = slower(window, 1.5)
    new = window.bucket_start_ms >= world.clock() + 5_000 - 1000 * new_s

    def mixed(pick: Callable[[Measured], np.ndarray]) -> np.ndarray:
        return np.where(new, pick(changed), pick(window))

    s = window.samples
    samples = type(s)(
        s.concurrency,
        mixed(lambda m: m.samples.goodput_per_s),
        mixed(lambda m: m.samples.throughput_per_s),
        s.completions,
        s.limit,
        s.instances,
        s.caller_judged,
    )
    world.collector.pools[CART] = Measured(samples, window.bucket_start_ms, BUCKET_MS)
    return world.step()


def test_an_old_curve_does_not_outlive_a_release_that_nobody_told() -> None:
    world = Scaled()
    before = learnt(world, 1.0, top=12)
    answer = drifting(world, 5)
    assert "DRIFT" not in codes(answer)
    answer = drifting(world, 20)
    assert "DRIFT" in codes(answer)
    assert brief(answer) == ("LEARNING", before)  # the size is kept: nothing better is known
    assert "HELD" in codes(answer)
    assert answer.measured is not None
    assert 190 <= len(answer.measured.samples) <= 210
    # Nothing is left to compare with: it learns, and says why for a minute.
    for seconds in (25, 30, 35):
        answer = drifting(world, seconds)
    assert brief(answer)[0] == "PROVIDED"
    assert "DRIFT" in codes(answer)
    assert world.history.kept[-1].found is not None


def test_a_restart_remembers_scalings_curves_and_drift() -> None:
    before = Scaled()
    at_one = learnt(before, 1.0, top=12)
    learnt(before, 2.0, top=24)
    after = Scaled(clock=before.clock, history=FakeHistory(told=before.history.told, kept=before.history.kept))
    after.tell(1.0)
    answer = after.see(top=12)
    assert brief(answer) == ("LEARNING", at_one)
    assert "REMEMBERED" in codes(answer)

    for _ in range(14):
        drifted = drifting(before, 60)
    assert "DRIFT" not in codes(drifted)  # a minute later
    forgotten = Scaled(clock=before.clock, history=FakeHistory(told=before.history.told, kept=before.history.kept))
    assert forgotten.step().ground.since_ms is not None
