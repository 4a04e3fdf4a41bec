"""Sizes of Sluice stay while spans do not arrive and requests go on, as the pool's targets report."""

from __future__ import annotations

from pathlib import Path

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.victims import Victims
from sluice_kit.local_stack.whole_loop import POOL, actuator, changes, demo, running, wait_for_audit, watched
from testbed.presets.shop import PERIOD

# A service is silent after 30 s.
AWAY_S = 75
OPERATOR = 64


def test_sizes_stay_while_the_pipeline_is_away(stack: Stack, tmp_path: Path) -> None:
    """The operator's 64 threads complete less than Sluice's size, so a look at them would cost goodput."""
    victims = Victims(stack)
    with (
        running("demo", demo(round(PERIOD)), stack, tmp_path),
        running("actuator", actuator("--apply", POOL), stack, tmp_path),
    ):
        wait_for_audit(stack)
        _, good_before = watched(stack, 2 * PERIOD)
        for name in ("flink-taskmanager", "collector"):
            with victims.stuck(name):
                sizes, good = watched(stack, AWAY_S)
            after, good_after = watched(stack, PERIOD)
            print(f"{name}: {changes(sizes)}, {good:.1f} good/s; afterwards {changes(after)}, {good_after:.1f} good/s")
            assert OPERATOR not in sizes + after, name
            assert min(good, good_after) >= 0.8 * good_before, name
