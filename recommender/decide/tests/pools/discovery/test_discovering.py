"""A decider finds pools, and another one takes them over."""

from collections.abc import Sequence

import numpy as np
import pytest

from sluice.config.load import parse
from sluice.engine.loop import Loop
from sluice.model.keys import PoolKey
from sluice.pools.discovery.bound import CandidateCourse
from sluice.pools.discovery.candidate import Load
from sluice.pools.discovery.room import BASE_BYTES, POOL_BYTES, MemoryRoom
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric
from sluice.pools.period.resources import PoolResources
from sluice.pools.v1.candidate_pb2 import (
    FOUND_BY_ACTUATOR,
    FOUND_BY_BOUND,
    FOUND_BY_METRICS,
    FOUND_BY_UNSPECIFIED,
    Candidate,
)
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize
from sluice_kit.decide.fakes import AtOnce, FakeClock, FakeCollector, FakeService
from sluice_kit.journal.memory_log import MemoryLog, pool_shard

AUTO = parse("", "sluice.yaml")
CART = PoolKey("cart", "server", "")
ORDERS = PoolKey("orders", "server", "")
DB = PoolKey("orders", "client", "db")


def shows(*keys: PoolKey, steadiest: float = 0.3) -> list[Load]:
    return [Load(key, 2.0, 1, steadiest, top=10.0) for key in keys]


def metric(key: PoolKey, size: int, at_ms: int) -> PoolMetric:
    side = "server" if key.side == "server" else "client"
    series = "tomcat.threads.config.max name=http"
    return PoolMetric(key.service, "a", side, "", key.peer, 0, series, size, size, at_ms, at_ms)


def found(loop: Loop) -> list[str]:
    return [str(pool.key) for pool in pool_shard(loop).config.pools]


def candidates(log: MemoryLog) -> dict[str, Candidate]:
    records = log.committed(log.topics.decisions)
    return {key: Candidate.FromString(value) for key, value in records.items() if key.startswith("candidate/")}


def periods(loop: Loop, clock: FakeClock, seconds: Sequence[float]) -> None:
    for second in seconds:
        clock.pass_s(second)
        loop.periods()


def test_a_size_makes_a_pool_that_outlives_the_decider_and_a_reload() -> None:
    log, clock = MemoryLog(), FakeClock()
    collector = FakeCollector(shown=shows(CART, ORDERS, DB))
    collector.services[CART] = FakeService(8)
    loop = log.loop(AUTO, collector, clock)
    loop.periods()
    assert found(loop) == []
    assert {key: one.found_by for key, one in candidates(log).items()} == dict.fromkeys(
        ("candidate/cart/server/", "candidate/orders/server/", "candidate/orders/client/db"), FOUND_BY_UNSPECIFIED
    )

    log.size(CART, 8, clock.now_ms)
    collector.metrics = MetricsReading([metric(ORDERS, 200, clock.now_ms)], {})
    periods(loop, clock, [10])
    assert found(loop) == ["cart/server", "orders/server"]
    cart, orders = (candidates(log)[f"candidate/{service}/server/"] for service in ("cart", "orders"))
    assert (cart.found_by, cart.size, cart.size_from) == (FOUND_BY_ACTUATOR, 8, FOUND_BY_ACTUATOR)
    assert (orders.found_by, orders.size, orders.found_at.ToMilliseconds()) == (FOUND_BY_METRICS, 200, clock.now_ms)
    answer = pool_shard(loop).answers[CART]
    assert (answer.content.action, answer.content.current, answer.threshold.source) == ("HOLD", 8, "none")

    successor = log.loop(AUTO, FakeCollector(), clock)
    assert found(successor) == ["cart/server", "orders/server"]
    periods(successor, clock, [1])
    assert pool_shard(successor).answers.keys() == {CART, ORDERS}
    successor.next_config = parse("pools: [{service: orders, side: server, threshold: 1s}]\ndiscovery: {}", "x")
    periods(successor, clock, [1, 10])
    assert found(successor) == ["orders/server", "cart/server"]
    assert pool_shard(successor).answers[ORDERS].threshold.value_ms == 1_000


def test_a_pool_that_discovery_excludes_is_deleted_and_so_are_all_without_discovery() -> None:
    log, clock = MemoryLog(), FakeClock()
    loop = log.loop(AUTO, FakeCollector(shown=shows(CART, ORDERS)), clock)
    log.size(CART, 8, clock.now_ms)
    log.size(ORDERS, 8, clock.now_ms)
    loop.periods()
    assert found(loop) == ["cart/server", "orders/server"]
    loop.next_config = parse("discovery: {exclude: [{service: cart}]}", "x")
    periods(loop, clock, [10])
    assert found(loop) == ["orders/server"]
    assert PoolSize.FromString(log.committed(log.topics.decisions)["pool/cart/server/"]).state == STATE_DELETED
    assert list(candidates(log)) == ["candidate/orders/server/"]
    loop.next_config = parse("pools: [{service: mail, side: server, threshold: 1s}]", "x")
    periods(loop, clock, [10])
    assert (found(loop), candidates(log)) == (["mail/server"], {})


def test_a_decider_with_memory_for_one_pool_finds_one_and_says_why_no_other() -> None:
    log, clock = MemoryLog(), FakeClock()
    collector = FakeCollector(shown=shows(CART, ORDERS))
    collector.metrics = MetricsReading([metric(key, 200, clock.now_ms) for key in (CART, ORDERS)], {})
    room = MemoryRoom(BASE_BYTES + POOL_BYTES)
    loop = log.loop(AUTO, collector, clock, PoolResources(background=AtOnce(), room=room))
    periods(loop, clock, [1, 10])
    assert found(loop) == ["cart/server"]
    why = candidates(log)["candidate/orders/server/"].why
    assert why == "the decider's memory is taken: 1 pools fit in 315 MiB"


def test_a_bound_makes_a_pool_of_that_size_until_more_is_in_flight() -> None:
    log, clock = MemoryLog(), FakeClock()
    level = np.repeat([4.0, 10.0], [240, 60])
    callers = np.concatenate([np.full(240, 4.2), np.linspace(15, 40, 60)])
    course = CandidateCourse(level[None], level[None], 20 * level, callers, 0.1)
    collector = FakeCollector(shown=shows(CART, steadiest=0.9) + shows(ORDERS), shown_courses={CART: course})
    loop = log.loop(AUTO, collector, clock)
    loop.periods()
    assert found(loop) == ["cart/server"]
    cart = candidates(log)["candidate/cart/server/"]
    assert (cart.size, cart.size_from) == (10, FOUND_BY_BOUND)
    assert cart.why.startswith("an instance stops at 10 in flight")
    answer = pool_shard(loop).answers[CART].content
    assert (answer.action, answer.current) == ("HOLD", 10)
    assert "NO_ACTUATOR" in answer.codes

    successor = log.loop(AUTO, FakeCollector(), clock)
    periods(successor, clock, [1])
    assert pool_shard(successor).answers[CART].content.current == 10
    collector.shown = [Load(CART, 2.0, 1, 0.3, top=20.0)]
    loop = log.loop(AUTO, collector, clock)
    periods(loop, clock, [20])
    assert (found(loop), candidates(log)["candidate/cart/server/"].HasField("size")) == (["cart/server"], False)


@pytest.mark.parametrize(("bound_first", "away_s", "size"), [(False, 240, None), (True, 240, None), (False, 400, 10)])
def test_a_bound_of_old_windows_replaces_no_size_that_an_actuator_reported(
    bound_first: bool, away_s: int, size: int | None
) -> None:
    """Spans show a bound of 10, which was the size before somebody set 4 and the actuator went."""
    log, clock = MemoryLog(), FakeClock()
    level = np.repeat([4.0, 10.0], [240, 60])
    callers = np.concatenate([np.full(240, 4.2), np.linspace(15, 40, 60)])
    course = CandidateCourse(level[None], level[None], 20 * level, callers, 0.1)
    collector = FakeCollector(shown=shows(CART, steadiest=0.9), shown_courses={CART: course})
    loop = log.loop(AUTO, collector, clock)
    if bound_first:
        periods(loop, clock, [20])
    log.size(CART, 4, clock.now_ms)
    periods(loop, clock, [20, *[20] * (away_s // 20)])
    cart = candidates(log)["candidate/cart/server/"]
    assert (cart.size if cart.HasField("size") else None) == size
    assert pool_shard(loop).answers[CART].content.current == size


def test_a_decider_that_restarts_finds_no_bound_in_windows_before_the_last_report() -> None:
    """The first reading of spans comes before the first judgement, with a report of 90 s ago in the journal."""
    log, clock = MemoryLog(), FakeClock()
    level = np.repeat([4.0, 10.0], [240, 60])
    callers = np.concatenate([np.full(240, 4.2), np.linspace(15, 40, 60)])
    course = CandidateCourse(level[None], level[None], 20 * level, callers, 0.1)
    log.size(CART, 4, clock.now_ms)
    clock.now_ms += 90_000
    loop = log.loop(AUTO, FakeCollector(shown=shows(CART, steadiest=0.9), shown_courses={CART: course}), clock)
    periods(loop, clock, [20, 20])
    cart = candidates(log)["candidate/cart/server/"]
    assert not cart.HasField("size")


def test_a_bound_of_a_pool_whose_size_changed_is_shown_anew() -> None:
    log, clock = MemoryLog(), FakeClock()
    level = np.repeat([4.0, 10.0], [240, 60])
    callers = np.concatenate([np.full(240, 4.2), np.linspace(15, 40, 60)])
    small, large = (CandidateCourse(n * level[None], n * level[None], 20 * n * level, n * callers, 0.1) for n in (1, 2))
    collector = FakeCollector(shown=shows(CART, steadiest=0.9), shown_courses={CART: small})
    loop = log.loop(AUTO, collector, clock)
    loop.periods()
    collector.shown, collector.shown_courses = [Load(CART, 4.0, 1, 0.9, top=20.0)], {CART: large}
    periods(loop, clock, [20, 1])
    assert candidates(log)["candidate/cart/server/"].size == 20


def test_each_group_finds_the_pools_of_its_own_services() -> None:
    log, clock = MemoryLog(2), FakeClock()
    keys = [PoolKey(f"service-{number}", "server", "") for number in range(20)]
    loop = log.loop(parse("groups: [a, b]", "x"), FakeCollector(shown=shows(*keys)), clock)
    while len(loop.owned) < 2:
        loop.own()
    for key in keys:
        for shard in range(2):
            log.size(key, 8, clock.now_ms, shard=shard)
    loop.periods()
    parts = [{pool.key for pool in pool_shard(loop, number).config.pools} for number in range(2)]
    assert (parts[0] | parts[1], parts[0] & parts[1]) == (set(keys), set())
    assert all(parts)


def test_equal_candidates_are_written_once_and_without_an_answer_the_last_ones_stay() -> None:
    log, clock = MemoryLog(), FakeClock()
    collector = FakeCollector(shown=shows(CART))
    loop = log.loop(AUTO, collector, clock)
    loop.periods()
    records = log.cluster.partitions[log.topics.decisions, 0].committed(0)
    periods(loop, clock, [20, 20, 20])
    collector.shown_problem = OSError("away")
    periods(loop, clock, [3_600, 3_600])
    again = log.cluster.partitions[log.topics.decisions, 0].committed(0)
    written = [record.key for record in again[len(records) :] if record.key.startswith("candidate/")]
    assert len(written) <= 2, "once an hour, for the time at which it was seen"
    assert list(candidates(log)) == ["candidate/cart/server/"]


@pytest.mark.parametrize(
    "value", [b"\xff\xff", Candidate().SerializeToString(), PoolSize(revision=1).SerializeToString()]
)
def test_an_unreadable_candidate_affects_no_other_record(value: bytes) -> None:
    log, clock = MemoryLog(), FakeClock()
    loop = log.loop(AUTO, FakeCollector(shown=shows(CART)), clock)
    log.size(CART, 8, clock.now_ms)
    loop.periods()
    log.cluster.partitions[log.topics.decisions, 0].append("candidate/orders/server/", value)
    assert found(log.loop(AUTO, FakeCollector(), clock)) == ["cart/server"]
