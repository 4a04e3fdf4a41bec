from dataclasses import replace

import pytest

from testbed.adversary.draw import world
from testbed.adversary.world import Curve, Phase, World, true_of

RISES = Curve("rises", unit=10, knee=8)


@pytest.mark.parametrize(
    ("kind", "at_4", "at_8", "at_16"),
    [("rises", 40, 80, 80), ("hump", 40, 80, 40), ("cliff", 40, 80, 4), ("flat", 80, 80, 80), ("dead", 0, 0, 0)],
)
def test_what_a_full_pool_completes(kind, at_4, at_8, at_16):
    curve = replace(RISES, kind=kind)
    assert [curve.per_s(size) for size in (4, 8, 16)] == [at_4, at_8, at_16]


def test_slots_that_others_hold_do_nothing():
    curve = Curve("held", unit=10, knee=8, holds=12)
    assert [curve.per_s(size) for size in (12, 16, 32)] == [0, 40, 80]
    assert true_of(Phase(0, curve, demand_per_s=100), 16).in_flight == 4


def test_a_full_pool_lets_callers_wait():
    second = true_of(Phase(0, RISES, demand_per_s=100), 4)
    assert (second.good_per_s, second.in_flight, second.waiting) == (40, 4, 120)


def test_a_light_one_does_what_is_asked():
    second = true_of(Phase(0, RISES, demand_per_s=20), 16)
    assert (second.good_per_s, second.in_flight, second.waiting) == (20, 2, 0)


def test_what_fails_is_not_good():
    second = true_of(Phase(0, RISES, demand_per_s=20, fails=0.25), 16)
    assert (second.good_per_s, second.failed_per_s) == (15, 5)


def test_a_callee_refuses_at_once_what_is_too_much():
    # 8 in flight where 4 are served: half of the slots turn over ten times as fast.
    second = true_of(Phase(0, RISES, demand_per_s=100, refuses_over=4), 8)
    assert (second.good_per_s, second.failed_per_s) == (40, 400)


def test_a_phase_lasts_until_the_next():
    first, second = Phase(0, RISES, 1.0), Phase(30, RISES, 2.0)
    world = World(seed=1, seconds=60, size=8, most=256, phases=(first, second))
    assert [world.phase(at) for at in (0, 29, 30, 59)] == [first, first, second, second]


def test_the_same_seed_draws_the_same_world():
    assert world(7) == world(7) != world(8)


def test_an_honest_world_tells_what_is_in_flight():
    worlds = [world(seed) for seed in range(50)], [world(seed, honest=True) for seed in range(50)]
    lies = [any(phase.tells != 1 for item in pools for phase in item.phases) for pools in worlds]
    assert lies == [True, False]
