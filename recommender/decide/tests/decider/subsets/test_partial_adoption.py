"""Callers that do not follow their subsets, in the decider: from the calls that the pipeline saw to the journal."""

from __future__ import annotations

from sluice.subsets.v1 import log_pb2, subset_pb2
from sluice_kit.decide.subset_worlds import Calling, SubsetWorld


def shop(callers: dict[str, Calling]) -> SubsetWorld:
    """front-0 to front-3 call cart-0 to cart-5 on four hosts, from idle to busy."""
    return SubsetWorld(callers=callers)


def state(world: SubsetWorld) -> log_pb2.ApplicationState:
    state = world.loop.owned[0].parts["subsets"].known.state
    assert state is not None
    return state


def endpoints(world: SubsetWorld, instance: str) -> list[subset_pb2.Endpoint]:
    (subset,) = (subset for key, subset in world.subsets.items() if key.instance == instance)
    return list(subset.endpoints)


def test_callers_are_judged_and_explained_before_the_next_run() -> None:
    world = shop({"front-0": "plan", "front-1": "plan", "front-2": "even", "front-3": "few"})
    world.step()
    assert not world.explanation("front", "cart").HasField("adoption"), "no subset was there to follow"
    for _ in range(3):
        world.step()
    assert world.run.cause == "START"
    adoption = world.explanation("front", "cart").adoption
    assert (adoption.following, adoption.not_following, adoption.unknown) == (2, 1, 1)
    assert list(adoption.not_following_instances) == ["front-2"]
    assert [one.instance for one in state(world).not_following] == ["front-2"]


def test_a_run_takes_their_calls_as_fixed_and_leaves_their_subsets() -> None:
    world = shop({"front-0": "plan", "front-1": "plan", "front-2": "even", "front-3": "even"})
    world.step()
    before = endpoints(world, "front-2")
    causes = []
    for _ in range(30):
        world.step()
        causes.append(world.run.cause)
    assert "ADOPTION" in causes
    assert endpoints(world, "front-2") == before
    assert (world.run.callers_following, world.run.callers_not_following, world.run.callers_unknown) == (2, 2, 0)
    explained = world.explanation("front", "cart")
    assert explained.adoption.fixed_share == 0.5
    even = explained.rate_per_s / 6
    assert all(load.rate_per_s >= 0.5 * even - 1e-6 for load in explained.containers), "half of an even share is fixed"
    assert explained.containers[0].rate_per_s > 1.2 * even, "cart-0 is on an idle host"


def test_where_nobody_follows_no_subset_changes() -> None:
    world = shop(dict.fromkeys((f"front-{at}" for at in range(4)), "even"))
    world.step()
    before = world.subsets
    for _ in range(60):
        world.step()
        world.source.cpu["h0"] = 0.9 - world.source.cpu["h0"]
    assert world.subsets == before


def test_another_decider_goes_on_with_who_does_not_follow() -> None:
    world = shop({"front-0": "even", "front-1": "one", "front-2": "plan", "front-3": "plan"})
    for _ in range(20):
        world.step()
    after = world.again()
    after.callers = {}
    after.source.calls = []
    for _ in range(20):
        after.step()
    found = {one.instance: dict(one.shares) for one in state(after).not_following}
    assert found == {"front-0": {}, "front-1": {f"cart-{at}": float(at == 0) for at in range(6)}}
    assert after.run.callers_not_following == 2


def test_who_begins_to_follow_is_no_longer_fixed() -> None:
    world = shop({"front-0": "even", "front-1": "plan", "front-2": "plan", "front-3": "plan"})
    for _ in range(20):
        world.step()
    assert world.run.callers_not_following == 1
    world.callers["front-0"] = "plan"
    for _ in range(40):
        world.step()
    assert world.run.callers_not_following == 0
    assert not state(world).not_following


def test_the_calls_of_unknown_callers_change_no_plan() -> None:
    """Few calls, or none: the same subsets, journal and runs."""
    few, none = shop(dict.fromkeys(("front-0", "front-1"), "few")), shop({})
    for _ in range(40):
        few.step()
        none.step()
        assert few.subsets == none.subsets
