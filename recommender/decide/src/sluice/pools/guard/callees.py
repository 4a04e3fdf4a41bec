"""Finds pools whose requests wait for a callee: their curve is the callee's, and says nothing of their own pool. Pure.

    front/server --> front/client/db (full)       front/server gets HOLD: its requests wait for a connection
    front/client/cart --> cart/server (full)      both pools of front get HOLD: they wait for a thread of cart

Worked: 200 threads of front wait for 2 connections. More threads complete no more, and less with each that waits in
excess: the curve falls, "best 11", though threads that wait cost nothing. The connections are decided first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sluice.fast.worth import LOOK_SHARE
from sluice.model.keys import PoolKey
from sluice.pools.policy.state import PoolState


def callees(
    states: Mapping[PoolKey, PoolState],
    pools: Iterable[PoolKey],
    by_metric: Mapping[PoolKey, int] = MappingProxyType({}),
) -> dict[PoolKey, str]:
    """The callee of each pool that waits for one, as text for people. by_metric: sizes that no actuator reports."""
    keys = list(pools)
    full = {key: size for key in keys for size in (_full(states.get(key), by_metric.get(key)),) if size is not None}
    servers = {key.service: key for key in full if key.side == "server"}
    blamed: dict[PoolKey, str] = {}
    waits: dict[str, str] = {}
    for key in keys:
        if key.side != "client":
            continue
        callee = servers.get(key.peer)
        if callee is not None and key.peer != key.service:
            blamed[key] = waits[key.service] = f"{callee}, all {full[callee]} of which are taken"
        elif key in full:
            waits.setdefault(key.service, f"{key}, all {full[key]} of which are taken")
    for key in keys:
        if key.side == "server" and key.service in waits:
            blamed[key] = waits[key.service]
    return blamed


def _full(state: PoolState | None, by_metric: int | None) -> int | None:
    """The size in force of a pool that was full in the newest seconds; None of one that was not."""
    if state is None or len(state.learnt.full) == 0:
        return None
    size = state.facts.current if by_metric is None else by_metric
    share = sum(state.learnt.full) / len(state.learnt.full)
    return size if share >= LOOK_SHARE else None
