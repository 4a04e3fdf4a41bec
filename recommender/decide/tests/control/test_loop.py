"""The whole loop, stepped through time with a fake clock."""

import threading
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from fakes import CART, DB, FakeClock, FakeCollector, FakeHistory, config, glimpse, hump, measured, remembered, rising
from sluice.collect import Window
from sluice.config import Backend, Bounds, Config, Pool, Slo, Upstream
from sluice.control.answer import Answer
from sluice.control.loop import ControlLoop
from sluice.control.pauses import Pause, Pauses
from sluice.control.sizes import Sizes
from sluice.control.store import NotReadyError, Store
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Reason
from sluice.pools.estimate.threshold import Asked, UpstreamTime


@dataclass
class World:
    clock: FakeClock = field(default_factory=FakeClock)
    collector: FakeCollector = field(default_factory=FakeCollector)
    history: FakeHistory = field(default_factory=FakeHistory)
    store: Store = field(default_factory=Store)
    sizes: Sizes = field(default_factory=Sizes)

    def __post_init__(self) -> None:
        self.loop = ControlLoop(config(), self.collector, self.history, self.store, self.sizes, self.clock)

    def step(self, after_s: float = 5) -> Answer:
        """A period later; cart's answer."""
        self.clock.pass_s(after_s)
        self.loop.step()
        return self.cart

    @property
    def cart(self) -> Answer:
        answer = self.store.get(CART)
        assert answer is not None
        return answer


def brief(answer: Answer) -> tuple[str, int | None, int]:
    return answer.content.state, answer.content.target, answer.revision


@dataclass
class SlowCollector(FakeCollector):
    """Takes 20 s, as reading 10,000 pools for the first time does."""

    clock: FakeClock = field(default_factory=FakeClock)

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        self.clock.pass_s(20)
        return super().collect(config, thresholds_ns, now_ms)


def test_the_lease_begins_when_the_answer_is_published() -> None:
    clock, store = FakeClock(), Store()
    collector = SlowCollector({CART: hump()}, clock=clock)
    begun_ms = clock()
    ControlLoop(config(), collector, FakeHistory(), store, Sizes(), clock).step()
    answer = store.get(CART)
    assert answer is not None
    assert answer.computed_at_ms == begun_ms
    assert answer.valid_until_ms == begun_ms + 20_000 + 30_000


def test_targets_that_differ_are_shown_and_another_size_of_one_is_a_new_answer() -> None:
    world = World()
    world.collector.pools[CART] = hump()
    world.sizes.report(CART, 64, world.clock(), "a")
    world.sizes.report(CART, 64, world.clock(), "b")
    first = world.step()
    assert (first.content.current, first.content.basis, first.content.action) == (64, "CURVE", "APPLY")
    world.sizes.report(CART, 12, world.clock(), "b")
    rolling = world.step()
    assert rolling.content.current is None
    assert "MIXED" in codes(rolling)
    assert rolling.content.sizes == (("a", 64), ("b", 12))
    assert rolling.revision == first.revision + 1
    world.sizes.report(CART, 64, world.clock(), "a")  # read again, with the same size
    assert world.step().revision == rolling.revision


def test_a_stale_answer_is_not_to_be_applied() -> None:
    world = World()
    world.collector.pools[CART] = hump()
    assert world.step().content.action == "APPLY"
    world.collector.problem = RuntimeError("gone")
    stale = world.step(after_s=31)
    assert (stale.content.state, stale.content.basis, stale.content.action) == ("STALE", "CURVE", "HOLD")


def codes(answer: Answer) -> tuple[str, ...]:
    return answer.content.codes


def test_the_life_of_a_pool() -> None:
    world = World()
    assert brief(world.step()) == ("NO_DATA", None, 1)
    assert brief(world.step()) == ("NO_DATA", None, 1)

    world.collector.pools[CART] = glimpse()
    assert brief(world.step()) == ("LEARNING", None, 2)

    world.sizes.report(CART, 64, world.clock())
    world.collector.pools[CART] = rising()
    answer = world.step()
    assert brief(answer) == ("UNSATURATED", 64, 3)  # kept, never shrunk
    assert answer.content.current == 64

    world.collector.pools[CART] = hump()
    answer = world.step()
    state, found, revision = brief(answer)
    assert (state, revision) == ("PROVIDED", 4)
    assert found is not None
    assert 11 <= found <= 14
    assert answer.valid_until_ms == world.clock() + 30_000
    assert answer.confidence > 0.5

    world.collector.pools[CART] = None
    answer = world.step()
    assert brief(answer) == ("NO_DATA", found, 5)
    assert "HELD" in codes(answer)

    world.collector.problem = ConnectionError("down")
    lease_over = answer.valid_until_ms
    while world.clock() <= lease_over - 5_000:
        assert brief(world.step()) == ("NO_DATA", found, 5)
    answer = world.step(5.001)
    assert brief(answer) == ("STALE", found, 6)
    assert answer.valid_until_ms == lease_over
    assert brief(world.step()) == ("STALE", found, 6)

    world.collector.problem = None
    world.collector.pools[CART] = hump()
    assert brief(world.step())[0] == "PROVIDED"


def test_every_answer_is_recorded_and_failing_periods_are_not() -> None:
    world = World()
    world.step()
    world.step()
    world.collector.problem = ConnectionError("down")
    world.step()
    assert [answer.key for answer in world.history.recorded] == [CART, DB, CART, DB]


def test_thresholds_reach_the_collector() -> None:
    world = World()
    world.step()
    assert world.collector.thresholds_ns == {CART: 230_000_000, DB: 60_000_000}


def test_longer_buckets_are_asked_for_the_same_time_and_say_how_they_were_chosen() -> None:
    """150 buckets of 200 ms are 30 s, as 300 of 100 ms are; 150 of 100 ms are 15 s, and too little."""
    world = World()
    short = hump()
    half = replace(short, samples=short.samples.take(np.arange(0, 600, 4)), bucket_start_ms=short.bucket_start_ms[::4])
    world.collector.pools[CART] = half
    assert brief(world.step())[0] == "LEARNING"
    world.collector.pools[CART] = replace(half, bucket_ms=200, reasons=(Reason("BUCKET_AUTO", "200 ms of 100, 200"),))
    answer = world.step()
    assert answer.content.state == "PROVIDED"
    assert codes(answer)[-1] == "BUCKET_AUTO"


def above(pool: Pool, slo_ms: float = 250, **asked: object) -> Config:
    """Cart's threshold by the traces of frontend."""
    upstream = Upstream.model_validate({"from": "traces", **asked})
    slo = Slo.model_validate({"name": "checkout", "service": "frontend", "latency": f"{slo_ms:g}ms"})
    return config(slos=[slo], pools=[pool.model_copy(update={"upstream": upstream})])


def test_a_new_slo_moves_the_next_answer() -> None:
    """Windows hold histograms: what was measured before is judged by the new threshold in the same period."""
    world = World()
    pool = world.loop.config.pools[0]
    world.loop.config = above(pool)
    world.collector.above = {Asked(CART, "checkout"): UpstreamTime(50.0, 900)}
    assert world.step().threshold.value_ms == 200.0
    assert world.collector.thresholds_ns == {CART: 200_000_000}
    world.loop.config = above(pool, slo_ms=150)
    assert world.step().threshold.value_ms == 100.0
    assert world.collector.thresholds_ns == {CART: 100_000_000}


def test_each_slo_of_a_pool_keeps_its_own_upstream_time() -> None:
    """Checkout leaves 250 - 100 = 150 ms, browse 120 - 20 = 100 ms, which stays when its traces stop coming."""
    world = World()
    given = above(world.loop.config.pools[0].model_copy(update={"slo": ["checkout", "browse"]}))
    browse = Slo.model_validate({"name": "browse", "service": "shop", "latency": "120ms"})
    world.loop.config = given.model_copy(update={"slos": [*given.slos, browse]})
    checkout = {Asked(CART, "checkout"): UpstreamTime(100.0, 900)}
    world.collector.above = checkout
    assert world.step().threshold.value_ms == 150.0
    world.collector.above = checkout | {Asked(CART, "browse"): UpstreamTime(20.0, 900)}
    assert world.step().threshold.value_ms == 100.0
    world.collector.above = checkout
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_LAST_KNOWN" in codes(answer)) == (100.0, True)
    world.loop.config = given.model_copy(update={"slos": [given.slos[0]], "pools": above(given.pools[0]).pools})
    assert world.step().threshold.value_ms == 150.0


def test_upstream_times_that_stop_coming_are_remembered_with_their_age() -> None:
    world = World()
    pool = world.loop.config.pools[0]
    world.loop.config = above(pool)
    world.collector.pools[CART] = hump()
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_UNKNOWN" in codes(answer)) == (250.0, True)
    world.collector.above = {Asked(CART, "checkout"): UpstreamTime(50.0, 900)}
    assert not any(code.startswith("UPSTREAM") for code in codes(world.step()))
    world.collector.above = {}
    world.step()
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_LAST_KNOWN" in codes(answer)) == (200.0, True)
    assert "known 10 s ago" in answer.threshold.detail
    assert answer.content.state == "PROVIDED"
    world.loop.config = above(pool, statistic="mean")  # the median is not known of the mean
    assert world.step().threshold.value_ms == 250.0


def test_paths_that_cannot_be_read_take_no_answer_away(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.loop.config = above(world.loop.config.pools[0])
    world.collector.pools[CART] = hump()
    world.collector.upstream_problem = ConnectionError("down")
    assert brief(world.step())[0] == "PROVIDED"
    assert brief(world.step())[0] == "PROVIDED"
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "upstream times failed, going on: ConnectionError: down"
    ]


def test_a_restart_goes_on_where_the_last_run_was() -> None:
    before = World()
    before.collector.pools[CART] = hump()
    last = before.step()
    after = World(history=FakeHistory(memory={CART: remembered(last)}))
    after.collector.pools[CART] = hump()
    assert brief(after.step()) == brief(last)
    after.collector.pools[CART] = None
    assert brief(after.step()) == ("NO_DATA", last.content.target, last.revision + 1)


def test_nothing_is_published_before_the_memory_is_back() -> None:
    world = World(history=FakeHistory(problem=ConnectionError("down")))
    world.loop.step()
    with pytest.raises(NotReadyError):
        world.store.newest()
    world.history.problem = None
    assert brief(world.step()) == ("NO_DATA", None, 1)


def test_a_guarded_answer_keeps_the_estimate() -> None:
    world = World()
    pool = world.loop.config.pools[0].model_copy(update={"bounds": Bounds(min=20, max=128)})
    world.loop.config = config(pools=[pool])
    world.collector.pools[CART] = hump()
    answer = world.step()
    assert answer.content.state == "GUARDED"
    assert answer.content.target == 20
    assert answer.content.unguarded_target in (11, 12, 13, 14)
    assert "BOUNDS" in codes(answer)


def test_a_size_is_current_for_a_minute() -> None:
    world = World()
    world.step()
    world.sizes.report(CART, 64, world.clock())
    assert world.step(60).content.current == 64
    assert world.step(0.001).content.current is None


def test_the_current_size_of_a_stale_answer_is_that_of_now() -> None:
    world = World()
    world.sizes.report(CART, 64, world.clock())
    world.step()
    world.collector.problem = ConnectionError("down")
    stale = world.step(31)
    assert (stale.content.state, stale.content.current) == ("STALE", 64)
    world.sizes.report(CART, 12, world.clock())
    assert world.step().content.current == 12
    unknown = world.step(60)
    assert (unknown.content.state, unknown.content.current) == ("STALE", None)
    assert unknown.revision == stale.revision + 2


def test_a_full_pool_of_the_right_size_is_not_shrunk_further() -> None:
    """After 64 -> 12, bursts fill the pool, and all who wait for it are late: that is no fall of the service's own."""
    world = World()
    x = np.concatenate((np.linspace(0.5, 11.4, 400), np.full(200, 12.0))).reshape(100, 6).T.ravel()
    y = np.where(x < 11.5, 10 * x, 0)
    world.collector.pools[CART] = measured(x, y)
    shrinks = world.step()  # no actuator: nobody knows that the pool is full
    assert shrinks.content.state == "PROVIDED"
    world.sizes.report(CART, 12, world.clock())
    kept = world.step()
    assert (kept.content.state, kept.content.target) == ("UNSATURATED", 12)


def test_one_pool_that_cannot_be_estimated_leaves_the_others_alone() -> None:
    world = World()
    broken = measured(np.linspace(1, 30, 600), np.ones(599))  # lengths that differ
    world.collector.pools = {CART: hump(), DB: broken}
    assert world.step().content.state == "PROVIDED"
    other = world.store.get(DB)
    assert other is not None
    assert (other.content.state, codes(other)) == ("LEARNING", ("ESTIMATE_FAILED",))


def test_a_new_configuration_forgets_and_adds_pools() -> None:
    world = World()
    world.step()
    world.loop.config = config(pools=world.loop.config.pools[1:])
    world.clock.pass_s(5)
    world.loop.step()
    assert [answer.key for answer in world.store.newest()] == [DB]


def test_a_clock_that_is_set_back_does_not_stop_the_loop() -> None:
    world = World(collector=SetsClockBack())
    assert isinstance(world.collector, SetsClockBack)
    world.collector.clock = world.clock
    waits: list[float | None] = []
    stop = threading.Event()

    class Wake(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            stop.set()
            return False

    world.loop.run(stop, Wake())
    assert waits == [5.0]


class SetsClockBack(FakeCollector):
    """An hour, while it collects."""

    clock: FakeClock

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        self.clock.pass_s(-3600)
        return super().collect(config, thresholds_ns, now_ms)


def test_a_lasting_problem_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.step()
    world.collector.problem = ConnectionError("down")
    for _ in range(5):
        world.step()
    world.collector.problem = ValueError("odd")
    world.step()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "control period failed, going on: ConnectionError: down",
        "control period failed, going on: ValueError: odd",
    ]


def test_a_paused_pool_keeps_its_size_and_says_who_paused_it() -> None:
    world = World()
    world.collector.pools[CART] = hump()
    world.sizes.report(CART, 64, world.clock())
    pauses = Pauses()
    world.loop = ControlLoop(config(), world.collector, world.history, world.store, world.sizes, world.clock, pauses)
    pauses.pause(CART, Pause(world.clock(), "ada", "release"))
    answer = world.step()
    assert brief(answer) == ("PAUSED", 64, 1)
    assert codes(answer)[0] == "PAUSED"
    assert "ada: release" in answer.reasons[0].text
    pauses.resume(CART)
    assert brief(world.step())[0] == "PROVIDED"


def test_a_pause_outlives_a_restart() -> None:
    world = World(history=FakeHistory(paused_pools={CART: Pause(1, "ada", "release")}))
    world.collector.pools[CART] = hump()
    assert brief(world.step())[:2] == ("PAUSED", None)


def test_callers_of_one_backend_share_what_it_takes() -> None:
    world = World()
    backends = [Backend(peer="catalogue-db", capacity=7)]
    world.loop.config = config(backends=backends)
    world.collector.pools[DB] = hump()
    world.step()
    answer = world.store.get(DB)
    assert answer is not None
    assert (answer.content.state, answer.content.target) == ("GUARDED", 7)
    assert "BACKEND_LIMIT" in codes(answer)


def test_an_actuator_that_goes_by_halves_is_not_held_up_by_its_own_steps() -> None:
    """64 -> 12 would take two cool-downs of a minute: each step is a change of the size."""
    world, size, seen = World(), 64, [64]
    world.collector.pools[CART] = hump()
    for _ in range(6):
        world.sizes.report(CART, size, world.clock())
        target = world.step().content.target
        assert target is not None
        if target != size:
            size = max(target, -(-size // 2))
            seen.append(size)
    assert seen[1:3] == [32, 16]
    assert 11 <= size <= 14
