"""A notification's step is committed as soon as it is done, not with the next period that is due."""

from __future__ import annotations

from sluice.model.containers import NotifiedContainer
from sluice.model.scaling import Scaling
from sluice_kit.decide.fakes import Later
from sluice_kit.decide.subset_worlds import SubsetWorld


def drain(world: SubsetWorld, *drained: int) -> None:
    notified = tuple(NotifiedContainer(f"cart-{n}", f"10.0.0.{n}:80", drained=n in drained) for n in range(6))
    world.log.scaling(Scaling(world.clock(), "cart", None, None, "", "kubernetes", notified))


def called(world: SubsetWorld) -> set[str]:
    return {end for ends in world.ends().values() for end in ends}


def started() -> tuple[SubsetWorld, Later]:
    """The first step is committed."""
    later = Later()
    world = SubsetWorld(background=later)
    world.step()
    assert later.run() == 1
    world.step()
    assert called(world) == {f"cart-{n}" for n in range(6)}
    return world, later


def test_the_step_of_a_notification_runs_beside_the_period_that_it_begins() -> None:
    world, later = started()
    drain(world, 2)
    assert world.loop.hear(), "the notification begins a period"
    assert later.run() == 1, "the step began before the period"
    world.step(0)
    assert "cart-2" not in called(world)
    assert not world.loop.hear()


def test_a_step_that_takes_longer_needs_no_further_period_that_is_due() -> None:
    world, later = started()
    drain(world, 2)
    assert world.loop.hear()
    world.step(0)
    assert not world.loop.hear(), "its step still runs"
    assert later.run() == 1
    assert world.loop.hear(), "its step is done"
    world.step(0)
    assert "cart-2" not in called(world)
    assert not world.loop.hear()


def test_a_notification_within_a_step_gets_the_next_one_at_once() -> None:
    world, later = started()
    drain(world, 2)
    assert world.loop.hear()
    world.clock.pass_s(0.1)
    drain(world, 2, 3)
    assert world.loop.hear()
    assert later.run() == 1
    assert world.loop.hear(), "of the first"
    world.step(0)
    assert "cart-3" in called(world)
    assert not world.loop.hear()
    assert later.run() == 1, "the second began its step"
    assert world.loop.hear()
    world.step(0)
    assert not called(world) & {"cart-2", "cart-3"}
    assert not world.loop.hear()


def test_a_notification_within_a_regular_step_that_changes_nothing_waits_for_one_period_less() -> None:
    """The regular step ends in the period that begins the notification's."""
    world, later = started()
    world.step()
    drain(world, 2)
    assert later.run() == 1
    world.step(0)
    assert later.run() == 1, "the step of the notification began in the period that took the regular one"


def test_a_regular_step_hurries_nothing() -> None:
    world, later = started()
    world.step()
    assert later.run() == 1
    assert not world.loop.hear()


def test_a_step_that_failed_hurries_nothing_again() -> None:
    world, later = started()
    world.source.problem = ConnectionError("away")
    drain(world, 2)
    world.step(0)
    assert later.run() == 1
    assert world.loop.hear()
    world.step(0)
    assert "cart-2" not in called(world), "membership does not wait for the database"
    assert not world.loop.hear()


def test_a_period_that_fails_is_not_repeated_at_once() -> None:
    world, later = started()
    drain(world, 2)
    world.step(0)
    assert later.run() == 1
    assert world.loop.hear()
    assert not world.loop.hear(), "no period ran: the next one comes when it is due"
    world.step(1)
    assert "cart-2" not in called(world)


def test_membership_is_followed_while_the_pools_part_of_a_period_fails() -> None:
    """Without ClickHouse no window comes, so no lease of a pool may be renewed. Subsets have no lease."""
    world, later = started()
    began = world.log.heartbeat()
    world.source.problem = world.collector.problem = ConnectionError("away")
    for drained in ({2}, {2, 3}):
        world.clock.pass_s(1)
        drain(world, *drained)
        assert world.loop.hear()
        later.run()
        world.step(0)
        assert not called(world) & {f"cart-{number}" for number in drained}
    world.step(10)
    beat = world.log.heartbeat()
    assert (beat.computed_at, beat.lease.ToSeconds()) == (began.computed_at, 28), "30 s, 2 s ago"
    assert not world.loop.hear()
    world.source.problem = world.collector.problem = None
    world.step(1)
    assert world.log.heartbeat().computed_at.ToMilliseconds() == world.clock()


def test_a_notification_that_was_followed_without_a_database_comes_again_to_the_next_decider() -> None:
    world, later = started()
    world.source.problem = world.collector.problem = ConnectionError("away")
    drain(world, 2)
    assert world.loop.hear()
    later.run()
    world.step(0)
    assert "cart-2" not in called(world)
    world.source.problem = world.collector.problem = None
    after = world.again()
    for _ in range(3):
        after.step()
        later.run()
    after.step()
    assert "cart-2" not in called(after)
