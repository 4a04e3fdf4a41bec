"""No period waits for a loop to be compiled: `prepare` has done that."""

import subprocess
import sys

SCRIPT = """
from sluice.fast import beats as compiled_beats
from sluice.fast import belief as compiled
from sluice.fast import belief_levels as compiled_levels
from sluice.fast import belief_seconds as compiled_seconds
from sluice.fast import worth as compiled_worth
from sluice.pools.policy.prepare import prepare


def compiled_so_far():
    named = {**vars(compiled), **vars(compiled_levels), **vars(compiled_seconds), **vars(compiled_worth)}
    named |= vars(compiled_beats)
    return {name: len(each.signatures) for name, each in named.items() if hasattr(each, "signatures")}


prepare()
before = compiled_so_far()
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.worlds import World

world = World()
world.collector.services[CART] = FakeService(16)
world.run(20)
assert world.cart.learnt.evidence.levels
assert compiled_so_far() == before
"""


def test_a_decider_that_is_prepared_compiles_nothing_more() -> None:
    """In a process of its own: in this one other tests have compiled."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert found.returncode == 0, found.stderr
