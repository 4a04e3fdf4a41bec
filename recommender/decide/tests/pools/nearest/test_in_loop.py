"""Pools and instances under other names than in spans, in the whole loop on fakes."""

from sluice.model.keys import PoolKey
from sluice.pools.nearest.query import PoolInSpans
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.worlds import World, codes


def test_a_pool_without_data_names_the_nearest_ones_until_its_spans_come() -> None:
    world = World()
    world.collector.in_spans = [PoolInSpans(PoolKey("cart", "client", "127.0.0.1/cart"), 40, ("cart-0",))]
    assert codes(world.step(5))[0] != "NOT_IN_SPANS"  # the first answer tells that there is no data
    answer = world.step(5)
    assert answer.content.state == "NO_DATA"
    reason = next(reason for reason in answer.reasons if reason.code == "NOT_IN_SPANS")
    assert "cart/client/127.0.0.1/cart (40 requests)" in reason.text
    assert world.collector.in_spans_asked == [()]
    world.step(15)
    assert len(world.collector.in_spans_asked) == 1
    world.step(15)
    assert len(world.collector.in_spans_asked) == 2
    world.collector.services[CART] = FakeService(8)
    world.run(20)
    assert "NOT_IN_SPANS" not in codes(world.cart)
    # Idle for long, its name is known to be right.
    for _ in range(20):
        answer = world.step(35)
    assert answer.content.state == "NO_DATA"
    assert "NOT_IN_SPANS" not in codes(answer)


def test_targets_named_unlike_the_instances_in_spans_say_both_lists() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(8)
    world.collector.in_spans = [PoolInSpans(CART, 40, ("pod-1", "pod-2"))]

    def second(*sizes: tuple[str, int]) -> None:
        for instance, size in sizes:
            world.log.size(CART, size, world.clock(), instance)
        service.works(world.clock(), world.clock() + 1_000)
        world.step(1)

    for _ in range(3):
        second(("duo-a", 8), ("duo-b", 8))
    assert "INSTANCES_DIFFER" not in codes(world.cart)  # of one size, names do not matter
    for _ in range(31):  # another pool without data was looked up just now
        second(("duo-a", 8), ("duo-b", 4))
    reason = next(reason for reason in world.cart.reasons if reason.code == "INSTANCES_DIFFER")
    assert "pod-1, pod-2; sizes are reported of duo-a, duo-b" in reason.text
    second(("duo-a", 4), ("duo-b", 4))
    second(("duo-a", 4), ("duo-b", 4))
    assert "INSTANCES_DIFFER" not in codes(world.cart)


def test_the_last_reasons_stay_after_a_failed_reading() -> None:
    world = World()
    world.collector.in_spans = []
    world.step(5)
    assert "NOT_IN_SPANS" in codes(world.step(5))
    world.collector.in_spans_problem = RuntimeError("no database")
    assert "NOT_IN_SPANS" in codes(world.step(40))
    assert world.problems.counts["candidate pools"] == 1
