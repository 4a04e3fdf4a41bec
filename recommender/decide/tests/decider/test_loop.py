"""The whole loop, stepped through time with a fake clock."""

import logging
import threading
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest

from sluice.config import Backend, Bounds, Config
from sluice.model.hours import Hours
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.period import decide as deciding
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.picture import draw
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.publication import Publication
from sluice.pools.windows import Window
from sluice_kit.decide.fakes import (
    CART,
    DB,
    FakeClock,
    FakeCollector,
    FakeService,
    config,
    glimpse,
    hump,
    measured,
    rising,
)
from sluice_kit.decide.feeds import FALLS
from sluice_kit.decide.worlds import World, brief, codes


def ends_after_a_period(world: World) -> None:
    stop = threading.Event()

    class Once(threading.Event):
        def clear(self) -> None:
            stop.set()

    world.loop.run(stop, Once())


@dataclass
class SlowCollector(FakeCollector):
    """Takes 20 s, as reading 10,000 pools for the first time does."""

    clock: FakeClock = field(default_factory=FakeClock)

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.clock.pass_s(20)
        return super().collect(config, thresholds_ns, now_ms, live)


def test_a_heartbeat_gives_the_lease_from_its_record_on() -> None:
    """What reading and deciding took is not taken from it: it is counted from when the answer can be read."""
    clock = FakeClock()
    world = World(clock=clock, collector=SlowCollector({CART: hump()}, clock=clock))
    begun_ms = clock()
    world.loop.periods()
    assert world.cart.computed_at_ms == world.heartbeat().computed_at.ToMilliseconds() == begun_ms
    assert world.heartbeat().lease.ToMilliseconds() == 30_000


def test_a_period_that_takes_longer_than_it_may_is_stretched_and_said(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    world = World(clock=clock, collector=SlowCollector(clock=clock))
    world.loop.elapsed_s = lambda: clock.elapsed_s
    with caplog.at_level(logging.INFO):
        ends_after_a_period(world)
    # 20 s, and a quarter of that for others.
    assert world.loop.period_ms == 25_000
    assert "a period took 20.0 s: periods now begin every 25.0 s" in caplog.text
    world.loop.periods()
    assert world.heartbeat().lease.ToMilliseconds() == 75_000


@pytest.mark.parametrize("by_s", [-3600, 3600])
def test_a_clock_that_is_set_within_a_period_does_not_stop_the_loop(by_s: int) -> None:
    clock = FakeClock()
    world = World(clock=clock, collector=SetsClock(clock=clock, by_s=by_s))
    ends_after_a_period(world)
    assert world.loop.period_ms == 1_000


def test_the_life_of_a_pool() -> None:
    """From far too many threads to where most completes; then nothing comes, and then the database is away."""
    world = World()
    assert brief(world.step(1)) == ("NO_DATA", None, 1)  # and nobody told a size
    assert codes(world.cart)[0] == "NO_SIZE"

    service = world.collector.services[CART] = FakeService(64)
    found = world.run(60)
    assert {answer.content.state for answer in found} <= {"NO_DATA", "LEARNING", "PROVIDED", "UNSATURATED"}
    # Until 3 s of it were full at its size nothing smaller is named; from the first change on it is known to be full.
    first = next(at for at, answer in enumerate(found) if answer.content.action == "APPLY")
    assert first <= 5
    assert "UNSATURATED" not in {answer.content.state for answer in found[first:]}
    end = found[-1].content
    assert end.state == "PROVIDED"
    assert end.current == end.target == service.size
    assert FALLS.throughput(service.size) >= 0.99 * FALLS.throughput(16)
    assert found[-1].confidence > 0.9

    service.busy = 0.0
    silent = world.run(40)[-1]
    assert (silent.content.state, silent.content.target, silent.content.action) == ("NO_DATA", service.size, "HOLD")

    world.collector.problem = ConnectionError("down")
    beat, said = world.heartbeat(), world.publication()
    for _ in range(40):
        world.step(1)
    assert (world.heartbeat(), world.publication()) == (beat, said)  # its lease is over: servers say STALE

    world.collector.problem = None
    service.busy = 1.0
    assert world.run(5)[-1].content.state == "PROVIDED"
    assert world.heartbeat() != beat


def test_targets_that_differ_are_shown_and_another_size_of_one_is_a_new_answer() -> None:
    world = World()
    for instance in ("a", "b"):
        world.log.size(CART, 64, world.clock(), instance)
    first = world.step()
    assert first.content.current == 64
    world.log.size(CART, 12, world.clock(), "b")
    rolling = world.step()
    assert (rolling.content.current, rolling.content.target, rolling.content.action) == (None, 64, "APPLY")
    assert codes(rolling)[0] == "MIXED"
    assert rolling.content.sizes == (("a", 64), ("b", 12))
    assert rolling.revision == first.revision + 1
    world.log.size(CART, 64, world.clock(), "a")  # read again, with the same size
    assert world.step().revision == rolling.revision


def test_a_service_whose_cpu_limit_nobody_told_comes_to_its_best_size() -> None:
    world = World()
    world.configure(config(pools=[world.loop.config.pools[0].model_copy(update={"service": "untold"})]))
    key = PoolKey("untold", "server", "")
    service = world.collector.services[key] = FakeService(64)
    for _ in range(60):
        world.log.size(key, service.size, world.clock())
        service.works(world.clock(), world.clock() + 1_000)
        world.clock.pass_s(1)
        world.loop.periods()
        answer = world.decider.answers.get(key)
        assert answer is not None
        if answer.content.action == "APPLY" and answer.content.target:
            service.size = answer.content.target
    assert FALLS.throughput(service.size) >= 0.99 * FALLS.throughput(16)


def test_without_a_size_in_force_a_published_model_is_shown_and_not_applied() -> None:
    world = World()
    world.collector.pools[CART] = glimpse()
    assert brief(world.step())[:2] == ("LEARNING", None)
    world.collector.pools[CART] = rising()
    assert brief(world.step())[:2] == ("UNSATURATED", None)
    world.collector.pools[CART] = hump()
    content = world.step().content
    assert (content.state, content.basis, content.action) == ("PROVIDED", "CURVE", "HOLD")
    assert content.target is not None
    assert 11 <= content.target <= 14


def test_a_model_that_was_chosen_decides() -> None:
    world = World()
    world.configure(config(pools=[world.loop.config.pools[0].model_copy(update={"model": "scg"})]))
    world.collector.pools[CART] = hump()
    world.log.size(CART, 64, world.clock())
    content = world.step().content
    # Of 64 threads nobody knows yet that they were full.
    assert (content.state, content.target, content.action) == ("PROVIDED", 64, "HOLD")
    assert world.cart.estimate is not None
    service = world.collector.services[CART] = FakeService(64)
    answers = world.run(10)
    first = next(answer.content for answer in answers if answer.content.action == "APPLY")
    assert (first.state, first.target, first.basis) == ("PROVIDED", 32, "CURVE")
    assert service.size < 64


def test_each_change_of_what_a_belief_has_is_no_new_answer() -> None:
    """Ends of the range move with each second; a revision is for what changed."""
    world = World()
    world.collector.services[CART] = FakeService(16)
    world.run(60)
    steady = world.run(120)
    changes = [one for one, other in pairwise(steady) if one.content != other.content]
    assert len(changes) <= 6, [(each.content, each.reasons) for each in changes]


def test_a_new_cpu_limit_carries_the_size_over() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    world.run(60)
    world.log.scaling(Scaling(world.clock(), "cart", 2.0, None, "", "vpa"))
    service.curve = replace(FALLS, speed=25.0)
    first = next(answer for answer in world.run(10) if answer.content.basis == "CARRIED")
    assert first.content.target is not None
    assert world.cart.deployments.own.cores == 2.0


def test_longer_buckets_are_asked_for_the_same_time_and_say_how_they_were_chosen() -> None:
    """150 buckets of 200 ms are 30 s, as 300 of 100 ms are; 150 of 100 ms are 15 s, and too little."""
    world = World()
    short = hump()
    half = replace(short, samples=short.samples.take(np.arange(0, 600, 4)), bucket_start_ms=short.bucket_start_ms[::4])
    world.collector.pools[CART] = half
    assert brief(world.step())[0] == "LEARNING"
    world.collector.pools[CART] = replace(half, bucket_ms=200)
    assert world.step().content.state == "PROVIDED"


def test_a_size_that_a_bound_holds_off_the_best_one_is_guarded() -> None:
    world = World()
    pool = world.loop.config.pools[0].model_copy(update={"bounds": Bounds(min=24, max=128)})
    world.configure(config(pools=[pool]))
    world.collector.services[CART] = FakeService(64)
    answer = world.run(60)[-1]
    content = answer.content
    assert answer.legal == (24, 128)
    assert (content.state, content.target, content.current) == ("GUARDED", 24, 24)
    # What is named lies within the bounds: of those 24 completes most, and 25 less than 99 % of it.
    assert FALLS.throughput(25) < 0.99 * FALLS.throughput(24)
    assert (content.lower_bound, content.unguarded_target, content.upper_bound) == (24, 24, 24)


def test_quiet_hours_hold_what_a_curve_names() -> None:
    world = World()
    pool = world.loop.config.pools[0].model_copy(update={"quiet_hours": [Hours(0, 0)]})
    world.configure(config(pools=[pool]))
    world.collector.services[CART] = FakeService(64)
    answer = world.run(20)[-1]
    assert (answer.content.target, answer.content.action, codes(answer)[0]) == (64, "HOLD", "QUIET")


def test_a_size_is_current_for_a_minute() -> None:
    world = World()
    world.step()
    world.log.size(CART, 64, world.clock())
    assert world.step(60).content.current == 64
    assert world.step(0.001).content.current is None


def test_an_answer_names_the_owner_of_each_target_and_another_owner_is_a_new_answer() -> None:
    world = World()

    def owners() -> list[str]:
        return [each.reporter for each in world.publication().sizes]

    world.log.size(CART, 64, world.clock(), "a", reporter="one")
    first = world.step()
    assert owners() == ["one"]
    world.log.size(CART, 64, world.clock(), "a", reporter="two")
    assert (world.step().revision, owners()) == (first.revision, ["one"])
    world.step(61)
    assert owners() == []
    world.log.size(CART, 64, world.clock(), "a", reporter="two")
    assert world.step().revision > first.revision
    assert owners() == ["two"]


def test_one_pool_that_cannot_be_estimated_leaves_the_others_alone() -> None:
    world = World()
    broken = measured(np.linspace(1, 30, 600), np.ones(599))  # lengths that differ
    world.collector.pools = {CART: hump(), DB: broken}
    assert world.step().content.state == "PROVIDED"
    other = world.decider.answers.get(DB)
    assert other is not None
    assert (other.content.state, codes(other)) == ("LEARNING", ("NO_SIZE", "ESTIMATE_FAILED"))


def test_one_pool_that_cannot_be_decided_leaves_the_others_alone(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.collector.services = {CART: FakeService(64), DB: FakeService(16)}
    world.log.size(DB, 16, world.clock())
    broken = world.collector.services[DB]
    broken.works(world.clock() - 5_000, world.clock())
    broken.completions.clear()
    world.run(8)
    assert world.cart.content.state in ("LEARNING", "PROVIDED")
    other = world.decider.answers.get(DB)
    assert other is not None
    assert (other.content.state, other.content.action, codes(other)) == ("LEARNING", "HOLD", ("FAILED",))
    assert caplog.text.count(f"decision of {DB} failed") == 1


@dataclass
class SetsClock(FakeCollector):
    """By `by_s`, while it collects."""

    clock: FakeClock = field(default_factory=FakeClock)
    by_s: int = 0

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.clock.set_by_s(self.by_s)
        return super().collect(config, thresholds_ns, now_ms, live)


def test_one_pool_that_cannot_be_answered_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.collector.services = {CART: FakeService(64), DB: FakeService(16)}
    made = deciding.publication

    def publication(pool_step: PoolStep, decision: Decision) -> Publication:
        if pool_step.key == DB:
            raise ValueError("no such answer")
        return made(pool_step, decision)

    monkeypatch.setattr(deciding, "publication", publication)
    world.run(8)
    other = world.decider.answers[DB]
    assert (world.cart.content.state, codes(other)) == ("LEARNING", ("FAILED",))
    assert other.reasons[0].text == "ValueError: no such answer"


def test_a_lasting_problem_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.step()
    world.collector.problem = ConnectionError("down")
    for _ in range(5):
        world.step()
    world.collector.problem = ValueError("odd")
    world.step()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "control period of shard 0 failed, going on: ConnectionError: down",
        "control period of shard 0 failed, going on: ValueError: odd",
    ]


def test_a_paused_pool_keeps_its_size_and_says_who_paused_it() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.log.pause(CART, Pause(world.clock(), "ada", "release"))
    answer = world.run(20)[-1]
    assert brief(answer)[:2] == ("PAUSED", 64)
    assert codes(answer)[0] == "PAUSED"
    assert "ada: release" in answer.reasons[0].text
    world.log.resume(CART)
    assert world.run(1)[-1].content.action == "APPLY"


def test_what_was_told_again_after_something_newer_changes_nothing() -> None:
    """A caller that heard no answer tells again, after somebody has resumed the pool and the limit has changed."""
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.log.pause(CART, Pause(world.clock(), "ada", "release"), request_id="a")
    world.log.scaling(Scaling(world.clock(), CART.service, 2.0, None, "", "vpa"), request_id="b")
    assert world.step().content.state == "PAUSED"
    world.log.resume(CART)
    world.log.scaling(Scaling(world.clock(), CART.service, 8.0, None, "", "vpa"))
    assert world.step().content.state != "PAUSED"
    for _ in range(2):
        world.log.pause(CART, Pause(world.clock(), "ada", "release"), request_id="a")
        world.log.scaling(Scaling(world.clock(), CART.service, 2.0, None, "", "vpa"), request_id="b")
        answer = world.step()
        assert answer.content.state != "PAUSED"
        assert answer.deployments.own.cores == 8.0
        world = World(log=world.log, clock=world.clock, collector=world.collector)


def test_callers_of_one_backend_share_what_it_takes() -> None:
    world = World()
    world.configure(config(backends=[Backend(peer="catalogue-db", capacity=14)]))
    world.collector.services[DB] = FakeService(8, instances=2)
    answer = world.run(30, DB)[-1]
    assert (answer.content.state, answer.content.target) == ("GUARDED", 7)
    assert answer.content.unguarded_target is not None
    assert answer.content.unguarded_target > 7


def test_replicas_that_were_told_count_before_they_are_busy() -> None:
    world = World()
    world.configure(config(backends=[Backend(peer="catalogue-db", capacity=16)]))
    world.collector.services[DB] = FakeService(16)
    assert world.run(2, DB)[-1].content.target == 16
    world.log.scaling(Scaling(world.clock(), "catalogue", None, 4, "", "hpa"))
    answer = world.run(1, DB)[-1]
    assert (answer.content.target, codes(answer)[0]) == (4, "OUTSIDE")
    assert "catalogue-db takes 16 in all" in answer.reasons[0].text


def test_a_picture_of_an_answer_is_of_what_it_was_decided_by() -> None:
    """The belief itself is held by the state alone."""
    one = World()
    one.collector.services[CART] = FakeService(16)
    one.run(10)
    known = one.decider.states[CART].learnt
    assert known.kept is not None
    assert one.cart.learnt.kept is None
    assert one.cart.cores == known.kept.cores
    found, expected = draw(one.cart.learnt, 16, one.cart.cores), draw(known, 16)
    assert found is not None
    assert expected is not None
    assert [each.per_s for each in found.curve] == pytest.approx([each.per_s for each in expected.curve], rel=0.01)


def test_without_a_pool_periods_succeed_and_pools_are_taken_later() -> None:
    full = config()
    world = World(config=full.model_copy(update={"pools": []}))
    for _ in range(3):
        world.clock.pass_s(5)
        world.loop.periods()
    assert world.decider.answers == {}
    assert not world.problems.counts
    world.configure(full)
    assert world.step().content.state == "NO_DATA"


@pytest.mark.parametrize("recommends", [True, False])
def test_a_pool_that_no_actuator_writes_has_one_target_and_no_rest(recommends: bool) -> None:
    """Its load fills it in part, in turn, so that a leap and a step alternate where an actuator may write."""
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    answers = []
    for second in range(90):
        service.busy = 1.0 if second < 40 or second // 5 % 2 else 0.7
        world.log.size(CART, 64, world.clock(), recommends=recommends)
        service.works(world.clock(), world.clock() + 1_000)
        world.clock.pass_s(1)
        world.loop.periods()
        if second >= 40:
            answers.append(world.cart.content)
    steady = len({answer.target for answer in answers}) == 1
    assert (steady, "WAITING" not in {answer.codes[0] for answer in answers}) == (recommends, recommends)
