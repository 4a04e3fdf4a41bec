"""A container that its source says is not ready keeps its connections, and servers get to know of it at once."""

from __future__ import annotations

import pytest

from sluice.model.containers import NotifiedContainer
from sluice.model.scaling import Scaling
from sluice_kit.decide.subset_worlds import SubsetWorld


def report(world: SubsetWorld, not_ready: set[str]) -> None:
    names = [f"cart-{n}" for n in range(6)]
    notified = tuple(
        NotifiedContainer(name, f"10.0.0.{n}:80", not_ready=name in not_ready) for n, name in enumerate(names)
    )
    world.clock.pass_s(1)
    world.log.scaling(Scaling(world.clock(), "cart", None, None, "", "probe", notified))


@pytest.mark.parametrize("named", [set(), {"cart-2"}, {"cart-1", "cart-5"}])
def test_it_is_published_and_nothing_moves(named: set[str]) -> None:
    world = SubsetWorld()
    world.step()
    report(world, set())
    world.step()
    before, run = world.subsets, world.run
    report(world, named)
    world.step()
    assert world.not_ready == named
    assert (world.subsets, world.run) == (before, run)
    report(world, set())
    world.step()
    assert world.not_ready == set()
