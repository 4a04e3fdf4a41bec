"""Thresholds in the loop: from SLOs and upstream times, as long as those come."""

import pytest

from sluice.config import Slo
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice_kit.decide.fakes import (
    CART,
    DB,
    FakeService,
    hump,
)
from sluice_kit.decide.worlds import World, above, brief, codes


def test_thresholds_reach_the_collector() -> None:
    world = World()
    world.step()
    assert world.collector.thresholds_ns == {CART: 230_000_000, DB: 60_000_000}


def test_a_new_slo_moves_the_next_answer() -> None:
    """Windows hold histograms: what was measured before is judged by the new threshold in the same period."""
    world = World()
    pool = world.loop.config.pools[0]
    world.configure(above(pool))
    world.collector.above = {UpstreamRequest(CART, "checkout"): UpstreamTime(50.0, 900)}
    assert world.step().threshold.value_ms == 200.0
    assert world.collector.thresholds_ns == {CART: 200_000_000}
    world.configure(above(pool, slo_ms=150))
    assert world.step().threshold.value_ms == 100.0
    assert world.collector.thresholds_ns == {CART: 100_000_000}


@pytest.mark.parametrize(("size", "judged"), [(64, True), (8, False)])
def test_a_pool_whose_requests_are_slow_against_its_slo_is_judged(size: int, judged: bool) -> None:
    """The threshold is 230 ms. A request takes 64 / 174 = 368 ms at 64, and 8 / 293 = 27 ms at 8."""
    world = World()
    world.collector.services[CART] = FakeService(size)
    world.run(4)
    assert (CART in world.collector.thresholds_ns) == judged


def test_each_slo_of_a_pool_keeps_its_own_upstream_time() -> None:
    """Checkout leaves 250 - 100 = 150 ms, browse 120 - 20 = 100 ms, which stays when its traces stop coming."""
    world = World()
    given = above(world.loop.config.pools[0].model_copy(update={"slo": ["checkout", "browse"]}))
    browse = Slo.model_validate({"name": "browse", "service": "shop", "latency": "120ms"})
    world.configure(given.model_copy(update={"slos": [*given.slos, browse]}))
    checkout = {UpstreamRequest(CART, "checkout"): UpstreamTime(100.0, 900)}
    world.collector.above = checkout
    assert world.step().threshold.value_ms == 150.0
    world.collector.above = checkout | {UpstreamRequest(CART, "browse"): UpstreamTime(20.0, 900)}
    assert world.step().threshold.value_ms == 100.0
    world.collector.above = checkout
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_LAST_KNOWN" in codes(answer)) == (100.0, True)
    world.configure(given.model_copy(update={"slos": [given.slos[0]], "pools": above(given.pools[0]).pools}))
    assert world.step().threshold.value_ms == 150.0


def test_upstream_times_that_stop_coming_are_remembered_with_their_age() -> None:
    world = World()
    pool = world.loop.config.pools[0]
    world.configure(above(pool))
    world.collector.pools[CART] = hump()
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_UNKNOWN" in codes(answer)) == (250.0, True)
    world.collector.above = {UpstreamRequest(CART, "checkout"): UpstreamTime(50.0, 900)}
    assert not any(code.startswith("UPSTREAM") for code in codes(world.step()))
    world.collector.above = {}
    world.step()
    answer = world.step()
    assert (answer.threshold.value_ms, "UPSTREAM_LAST_KNOWN" in codes(answer)) == (200.0, True)
    assert "known 10 s ago" in answer.threshold.detail
    assert answer.content.state == "PROVIDED"
    world.configure(above(pool, statistic="mean"))  # the median is not known of the mean
    assert world.step().threshold.value_ms == 250.0


def test_paths_that_cannot_be_read_take_no_answer_away(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.configure(above(world.loop.config.pools[0]))
    world.collector.pools[CART] = hump()
    world.collector.upstream_problem = ConnectionError("down")
    assert brief(world.step())[0] == "PROVIDED"
    assert brief(world.step())[0] == "PROVIDED"
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "upstream times failed, going on: ConnectionError: down"
    ]
