"""Lists of containers that a source reports: they have a lease, and whom they leave out does not return."""

from __future__ import annotations

from sluice.model.containers import NotifiedContainer
from sluice.model.scaling import Scaling
from sluice_kit.decide.subset_worlds import SubsetWorld

LEASE: dict[str, object] = {"report_lease": "10m"}


def report(world: SubsetWorld, *numbers: int) -> None:
    notified = tuple(NotifiedContainer(f"cart-{n}", f"10.0.0.{n}:80") for n in numbers)
    world.clock.pass_s(1)
    world.log.scaling(Scaling(world.clock(), "cart", None, None, "", "deploy", notified))


def called(world: SubsetWorld) -> set[str]:
    return {end for ends in world.ends().values() for end in ends}


def cart(*numbers: int) -> set[str]:
    return {f"cart-{n}" for n in numbers}


def test_a_container_that_the_source_left_out_does_not_return_after_300_s() -> None:
    """cart-5 still sends spans: others than our callers call it. The window of spans is 300 s long."""
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1, 2, 3, 4)
    for _ in range(50):
        world.step()
        assert called(world) == cart(0, 1, 2, 3, 4)


def test_nor_after_a_restart_or_after_the_lease() -> None:
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1, 2, 3, 4)
    world.step()
    world = world.again()
    for _ in range(70):
        world.step()
        assert called(world) == cart(0, 1, 2, 3, 4)
    report(world, 0, 1, 2, 3, 4, 5)
    world.step()
    assert called(world) == cart(0, 1, 2, 3, 4, 5), "the source names it again"


def test_nor_where_the_decider_was_away_when_the_source_left_it_out() -> None:
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1, 2, 3, 4)
    world.step(400)
    assert called(world) == cart(0, 1, 2, 3, 4)
    world.step(400)
    assert called(world) == cart(0, 1, 2, 3, 4)


def test_nor_where_no_spans_were_read_when_the_source_left_it_out() -> None:
    """The lease ends while ClickHouse is away. Spans of the newest window do not show who is older than the report."""
    world = SubsetWorld(options=LEASE)
    world.step()
    world.source.problem = ConnectionError("away")
    report(world, 0, 1, 2, 3, 4)
    world.step(620)
    assert called(world) == cart(0, 1, 2, 3, 4)
    world.source.problem = None
    for _ in range(3):
        world.step(620)
        assert called(world) == cart(0, 1, 2, 3, 4)
    report(world, 0, 1, 2, 3, 4, 5)
    world.step()
    assert called(world) == cart(0, 1, 2, 3, 4, 5)


def test_one_that_was_left_out_and_ended_may_come_again() -> None:
    """As that of a StatefulSet, which has its name again. After the lease its spans suffice."""
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1, 2, 3, 4)
    world.step()
    host = world.source.containers["cart"].pop("cart-5")
    for _ in range(61):
        world.step()
    world.source.containers["cart"]["cart-5"] = host
    world.source.first_s["cart-5"] = world.clock() // 1000
    world.step()
    assert called(world) == cart(0, 1, 2, 3, 4, 5)


def test_a_reported_container_that_died_leaves_with_the_lease() -> None:
    """cart-7 never had a span, cart-4 ended: both stay as long as the source's word counts."""
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1, 2, 3, 4, 5, 7)
    world.step()
    assert called(world) == cart(0, 1, 2, 3, 4, 5, 7)
    del world.source.containers["cart"]["cart-4"]
    for _ in range(59):
        world.step()
    assert called(world) == cart(0, 1, 2, 3, 4, 5, 7)
    world.step()
    world.step()
    assert called(world) == cart(0, 1, 2, 3, 5)
    addresses = {end.address for subset in world.subsets.values() for end in subset.endpoints}
    assert addresses == {f"10.0.0.{n}:80" for n in (0, 1, 2, 3, 5)}, "addresses stay known"


def test_a_report_within_the_lease_renews_it() -> None:
    world = SubsetWorld(options=LEASE)
    world.step()
    for _ in range(4):
        report(world, 0, 1, 2, 3, 4, 5, 7)
        for _ in range(50):
            world.step()
        assert "cart-7" in called(world)


def test_a_lease_that_ends_leaves_no_service_without_containers() -> None:
    """All reported ones died; who was left out is there."""
    world = SubsetWorld(options=LEASE)
    world.step()
    report(world, 0, 1)
    world.step()
    for number in (0, 1):
        del world.source.containers["cart"][f"cart-{number}"]
    for _ in range(62):
        world.step()
    assert called(world) == cart(2, 3, 4, 5)


def test_a_new_pod_that_nobody_called_gets_calls() -> None:
    """It has no spans, and never had. The source reports it. Of 4 callers' calls an even part is 4 / 7."""
    world = SubsetWorld(options=LEASE)
    for _ in range(30):
        world.step(60)
    report(world, *range(7))
    world.step(1)
    assert world.containers["cart"] == sorted(cart(*range(7)))
    part = sum(
        end.weight / sum(other.weight for other in subset.endpoints)
        for subset in world.subsets.values()
        for end in subset.endpoints
        if end.instance == "cart-6"
    )
    assert 0.5 * 4 / 7 <= part <= 2 * 4 / 7
