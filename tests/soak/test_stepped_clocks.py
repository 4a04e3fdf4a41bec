"""Clocks that are stepped while an actuator applies: sizes stay what they were, and decisions go on afterwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from sluice_kit.faults import clock
from sluice_kit.faults.clock import stepped
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.victims import Victims
from sluice_kit.local_stack.whole_loop import (
    POOL,
    actuator,
    changes,
    demo,
    running,
    size_of_cart,
    wait_for_audit,
    watched,
)
from sluice_kit.waiting import until
from testbed.presets.shop import PERIOD

LASTS_S = round(PERIOD)
STEPS = (3600, -3600)
OURS = ("decider", "server", "kafka")
ACTUATOR, SHOP = "the actuator", "the application"


@pytest.mark.skipif(not clock.possible(), reason="needs root and x86-64")
def test_no_stepped_clock_moves_a_size_to_harm(stack: Stack, tmp_path: Path) -> None:
    victims = Victims(stack)
    with (
        running("demo", demo(round(PERIOD)), stack, tmp_path) as shop,
        running("actuator", actuator("--apply", POOL), stack, tmp_path) as applies,
    ):
        wait_for_audit(stack)
        before, good_before = watched(stack, 4 * LASTS_S)
        print(f"before: {changes(before)}, {good_before:.1f} good/s")
        whose: dict[str, Sequence[str]] = {name: [name] for name in (*OURS, ACTUATOR, SHOP)}
        whose["all of Sluice"] = (*OURS, ACTUATOR)
        for name, processes in whose.items():
            for step_s in STEPS:
                # Asked for each time: a decider whose loop hangs since its clock was set back ends, and another starts.
                pids = [{ACTUATOR: applies, SHOP: shop}.get(one) or victims.pid(one) for one in processes]
                with stepped(pids, step_s):
                    sizes, good = watched(stack, LASTS_S)
                until("decisions of now", lambda: abs(size_of_cart(stack).computed_at.seconds - time.time()) < 30)
                after, good_after = watched(stack, LASTS_S)
                print(
                    f"{name} {step_s:+} s: {changes(sizes)}, {good:.1f} good/s; "
                    f"afterwards {changes(after)}, {good_after:.1f} good/s"
                )
                assert min(good, good_after) >= 0.8 * good_before, (name, step_s)
