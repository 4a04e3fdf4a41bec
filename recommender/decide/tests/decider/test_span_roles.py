"""The loop where spans hold no thread of a pool: it says so, and a size that somebody reports makes a pool of it."""

from sluice.pools.publication.messages import explanation
from sluice.pools.roles.span_roles import SpanRoles
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.worlds import World, codes

NODE = SpanRoles(1_000, {"probe-path": 60, "websocket": 70}, {"nodejs": 1_000})


def test_an_event_loop_without_a_size_is_held_and_said_to_be_no_pool() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.collector.roles = {CART: NODE}
    answer = world.step(1)
    assert answer.content.action == "HOLD"
    assert "NOT_A_POOL" in codes(answer)
    left_out = [(spans.rule, spans.spans) for spans in explanation(answer).left_out]
    assert left_out == [("websocket", 70), ("probe-path", 60)]


def test_a_reported_size_makes_it_a_pool_within_the_next_period() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.collector.roles = {CART: NODE}
    world.log.size(CART, 64, world.clock(), "cart-0")
    assert "NOT_A_POOL" not in codes(world.step(1))
