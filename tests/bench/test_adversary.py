"""For no sequence of windows is a pool kept for over a minute at a size that does less than 0.7 of the operator's."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from bench.adversary import LONGEST_S, Driven, longer, owes
from sluice.model.states import State
from sluice.pools.policy.decision import Action, Basis, Decision
from testbed.adversary.draw import drawn, world
from testbed.adversary.world import Curve, Phase, Trap, World

LIGHT = Phase(0, Curve("rises", unit=10, knee=8), demand_per_s=60)
"""60 a second, of 80 that 8 can do: 6 of them busy."""


def applies(size):
    return lambda state, observation, now_ms: (
        state,
        Decision(size, Basis.CURVE, Action.APPLY, State.LEARNING, (("X", ""),)),
    )


def holds(state, observation, now_ms):
    return state, Decision(8, Basis.HELD, Action.HOLD, State.LEARNING, (("X", ""),))


def of(*phases, **more):
    return World(**({"seed": 1, "seconds": 100, "size": 8, "most": 256, "phases": phases} | more))


def test_what_a_size_owes():
    assert owes(100) == pytest.approx(64.62, abs=0.01)
    assert owes(1.9) == 0


def test_who_holds_is_never_worse():
    assert all(Driven(world(seed), decides=holds).run().seconds == 0 for seed in range(20))


def test_who_takes_half_away_is_found_out():
    # 8 -> 4 in the first period: 40 a second instead of 60, from the second on that follows, to the end.
    result = Driven(of(replace(LIGHT, demand_per_s=80)), decides=applies(4)).run()
    assert (result.seconds, result.size, result.operator, result.per_s, result.operator_per_s) == (99, 4, 8, 40, 80)


def test_a_size_that_does_as_much_is_not():
    assert Driven(of(replace(LIGHT, demand_per_s=40)), decides=applies(4)).run().seconds == 0


def test_a_demand_that_was_never_seen_at_the_operators_size_counts_where_spans_are_honest():
    worlds = of(replace(LIGHT, demand_per_s=20), replace(LIGHT, at_s=20, demand_per_s=80))
    assert Driven(worlds, decides=applies(4)).run().seconds == 0
    assert Driven(worlds, any_demand=True, decides=applies(4)).run().seconds == 80


def test_seconds_that_nothing_tells_of_do_not_count():
    worlds = of(replace(LIGHT, demand_per_s=80), replace(LIGHT, at_s=20, demand_per_s=80, silent=True))
    assert Driven(worlds, decides=applies(4)).run().seconds == 19


def test_what_the_operator_sets_later_is_the_operators_size():
    worlds = of(replace(LIGHT, demand_per_s=80), sets=((50, 4),))
    assert Driven(worlds, decides=applies(4)).run().at_s == 49


def test_a_trap_lets_other_sizes_collapse():
    # In force from second 1 on, for 20 s as good; nothing from 21 to 99.
    worlds = of(replace(LIGHT, demand_per_s=40), trap=Trap(after_s=20, factor=0.0))
    result = Driven(worlds, decides=applies(6)).run()
    assert (result.seconds, result.per_s, result.operator_per_s) == (79, 0, 40)


def test_no_size_of_ours_is_kept_that_does_less_than_the_operators():
    """At seed 5734 the operator's size was left within the first stay of a request, at 9392 looked at for 2 s in which
    all failed: neither was a measure of it. At 4984 spans show no request in flight, and callers wait."""
    assert longer([*range(24), 4_984, 5_734, 9_392], processes=1) == {}


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_nor_of_what_hypothesis_finds(rng: Random):
    adverse = drawn(rng)
    note(repr(adverse))  # whole: the assertion's own text is cut
    assert Driven(adverse).run().seconds <= LONGEST_S


def test_nor_under_a_load_that_was_never_seen_where_spans_are_honest():
    assert longer(range(12), honest=True, processes=1) == {}


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 10_000, 2_500))
def test_nor_in_10_000_worlds(first):
    assert longer(range(first, first + 2_500)) == {}


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nor_in_2_000_honest_worlds():
    assert longer(range(2_000), honest=True) == {}
