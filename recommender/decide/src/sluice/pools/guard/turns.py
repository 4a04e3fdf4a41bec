"""Allows one look at a time on a path: with two sizes that change together, the cause of an effect would be unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sluice.fast.worth import LOOK_SHARE
from sluice.model.keys import PoolKey
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import PoolState

# A turn is about the length of a look, and of the evidence after it.
TURN_MS = 10_000


def waiting(states: Mapping[PoolKey, PoolState], paths: Iterable[Collection[PoolKey]], now_ms: int) -> set[PoolKey]:
    """The pools that may not look now, because another one on their path looks, or may.

    Only pools that are full look; those of a path take turns of 10 s, by the clock.
    """
    waiting_pools: set[PoolKey] = set()
    for path in paths:
        if len(path) < 2:
            continue
        full = sorted(key for key in path if key in states and _full(states[key]))
        looking = [key for key in full if _looks(states[key], now_ms)]
        turn = looking or ([full[now_ms // TURN_MS % len(full)]] if full else [])
        waiting_pools.update(set(path) - set(turn[:1]))
    return waiting_pools


def paths(pools: Iterable[tuple[PoolKey, Collection[str]]]) -> list[set[PoolKey]]:
    """Pools that share a path: under one SLO, or of services next to each other. pools: each with its SLOs' names."""
    leads: dict[str, str] = {}

    def end(joint: str) -> str:
        while leads.setdefault(joint, joint) != joint:
            leads[joint] = leads[leads[joint]]
            joint = leads[joint]
        return joint

    begins = {}
    for key, slos in pools:
        joints = [f"service {key.service}", *(f"slo {name}" for name in slos)]
        joints += [f"service {key.peer}"] if key.peer else []
        begins[key] = joints[0]
        for other in joints[1:]:
            leads[end(other)] = end(joints[0])
    by_slo: dict[str, set[PoolKey]] = {}
    for key, joint in begins.items():
        by_slo.setdefault(end(joint), set()).add(key)
    return list(by_slo.values())


def _full(state: PoolState) -> bool:
    full = state.learnt.full
    return bool(full) and sum(full) / len(full) >= LOOK_SHARE


def _looks(state: PoolState, now_ms: int) -> bool:
    change = state.facts.change
    return change is not None and change.basis is Basis.PROBE and now_ms - change.at_ms < TURN_MS
