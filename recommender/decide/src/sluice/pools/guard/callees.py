"""Finds pools whose requests wait for a callee: their curve is the callee's, and says nothing of their own pool. Pure.

    front/server --> front/client/db (full)       front/server gets HOLD: its requests wait for a connection
    front/client/cart --> cart/server (full)      both pools of front get HOLD: they wait for a thread of cart
    front/client/cart --> cart/client/db (full)   the same: cart waits for a connection, whatever threads it has

Worked: 200 threads of front wait for 2 connections. More threads complete no more, and less with each that waits in
excess: the curve falls, "best 11", though threads that wait cost nothing. The connections are decided first.

Worked: the load triples. 3 connections of front to cart complete 23 a second, since cart's own 2 connections are full;
"best 2", with 43 callers that wait. Once cart has 4, front's 3 complete 54.
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
    threads = {key.service: key for key in full if key.side == "server"}
    connections: dict[str, PoolKey] = {}
    for key in keys:
        if key in full and key.side == "client" and key.peer not in threads:
            connections.setdefault(key.service, key)
    blamed: dict[PoolKey, PoolKey] = {}
    waits = dict(connections)
    for key in keys:
        if key.side != "client" or key.peer == key.service:
            continue
        callee = threads.get(key.peer) or connections.get(key.peer)
        # Of two services that call each other none is decided first.
        if callee is not None and callee.peer != key.service:
            blamed[key] = waits[key.service] = callee
    blamed |= {key: waits[key.service] for key in keys if key.side == "server" and key.service in waits}
    return {key: f"{callee}, all {full[callee]} of which are taken" for key, callee in blamed.items()}


def _full(state: PoolState | None, by_metric: int | None) -> int | None:
    """The size in force of a pool that was full in the newest seconds; None of one that was not."""
    if state is None or len(state.learnt.full) == 0:
        return None
    size = state.facts.current if by_metric is None else by_metric
    share = sum(state.learnt.full) / len(state.learnt.full)
    return size if share >= LOOK_SHARE else None
