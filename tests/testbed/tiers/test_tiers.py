"""A chain of three tiers; ``test_fast_run`` and ``test_path_run`` have one and two."""

import numpy as np
import pytest

from testbed.compiled.processor import build, rates
from testbed.tiers.memory import Tier, first
from testbed.tiers.run import ARRIVED, BEGUN, CONNECTED, ENDED, TierRun


def chain(users, last):
    """10 ms of CPU, 20 ms of waiting, 5 ms of CPU, of which nothing varies; ``last``: connections to the third tier."""
    tiers = [Tier("a", 10.0, 0.0, "0", "1"), Tier("b", 0.0, 20.0, "0", "1"), Tier("c", 5.0, 0.0, "0", "1")]
    memory = first(tiers, 1, 20.0, lambda second: users, 0.05, 0.0)
    memory["built"] = memory["rotating"] = 1
    memory["gates"]["size"][:, 0] = 500, 500, last
    for tier in (0, 2):
        build(memory["cpus"][tier, 0], 64.0, rates(500, 64.0, 0.0, 0.0, None))
    run = TierRun(memory, 20.0)
    run.until(20.0)
    return run, memory


def test_a_request_passes_each_tier_and_holds_what_it_has_passed() -> None:
    run, memory = chain(users=1, last=4)
    rows = run.rows
    assert len(rows) > 100
    assert rows[:, BEGUN] == pytest.approx(rows[:, ARRIVED])
    assert rows[:, CONNECTED] - rows[:, ARRIVED] == pytest.approx(np.full(len(rows), 0.010))
    assert rows[:, CONNECTED + 1] - rows[:, ARRIVED] == pytest.approx(np.full(len(rows), 0.030))
    assert rows[:, ENDED] - rows[:, ARRIVED] == pytest.approx(np.full(len(rows), 0.035))
    assert memory["gates"]["in_use"].max() <= 1


def test_the_narrowest_gate_bounds_the_chain() -> None:
    """200 users would send some 2,300 requests a second; one connection of 5 ms each lets 200 pass."""
    run, memory = chain(users=200, last=1)
    assert run.finished / 20.0 == pytest.approx(200.0, rel=0.02)
    assert memory["gates"]["in_use"][2, 0] == 1
    assert memory["gates"]["in_use"][1, 0] > 100
