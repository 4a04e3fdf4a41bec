"""A callee that slows and recovers, on the running stack, with an actuator that applies.

The demo's cart-db waits 2.5 times as long for some periods of the load. So cart's requests stay 107 ms instead of 49,
and as many times the threads are best. The pool must not be cut then, and must not do worse than a held one.
"""

from __future__ import annotations

from pathlib import Path

import requests

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.whole_loop import POOL, actuator, changes, demo, running, wait_for_audit, watched
from testbed.presets.shop import PERIOD

WAITS = 2.5
LASTS_S = 4 * round(PERIOD)
GROWS_WITHIN_S = 2 * round(PERIOD)


def slow(stack: Stack, waits: float) -> None:
    answer = requests.put(f"{stack.address['SLUICE_DEMO']}/services/cart-db", json={"waits": waits}, timeout=5)
    answer.raise_for_status()


def test_a_pool_grows_with_its_callee_s_latency_and_comes_back(stack: Stack, tmp_path: Path) -> None:
    with running("demo", demo(round(PERIOD)), stack, tmp_path):
        with running("actuator", actuator("--apply", POOL), stack, tmp_path):
            wait_for_audit(stack)
            before, good_before = watched(stack, LASTS_S)
            slow(stack, WAITS)
            try:
                while_slow, good_while_slow = watched(stack, LASTS_S)
            finally:
                slow(stack, 1.0)
            after, good_after = watched(stack, LASTS_S)
        rests = before[-1]
        held(stack, rests)
        slow(stack, WAITS)
        try:
            _, good_held = watched(stack, LASTS_S)
        finally:
            slow(stack, 1.0)
    print(f"sizes before {changes(before)}, slow {changes(while_slow)}, after {changes(after)}")
    print(f"good/s {good_before:.1f}, {good_while_slow:.1f} (held at {rests}: {good_held:.1f}), {good_after:.1f}")
    assert min(while_slow) >= 0.75 * rests, "a slow callee is no reason for a smaller pool"
    assert max(while_slow[:GROWS_WITHIN_S]) > 1.2 * rests
    assert good_while_slow >= 0.95 * good_held, "no worse than if nobody had changed the size"
    assert good_after >= 0.9 * good_before


def held(stack: Stack, size: int) -> None:
    """Sets the size by hand; no actuator runs."""
    requests.put(f"{stack.address['SLUICE_DEMO']}/pools/{POOL}", json={"size": size}, timeout=5).raise_for_status()
