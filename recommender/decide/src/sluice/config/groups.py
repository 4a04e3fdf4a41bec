"""Groups of pools. One decider decides a group, so it must know all pools that depend on one another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluice.pools.section import Backend, Pool


def check_groups(
    groups: Sequence[str],
    pools: Sequence[Pool],
    backends: Sequence[Backend],
    slo_names: Callable[[Pool], Collection[str]],
    discovers: bool = False,
) -> None:
    """Raises ValueError for an undefined group, a backend or path across groups, and a group that cannot have pools.
    discovers: each group may find pools of its own."""
    for i, group in enumerate(groups):
        if group in groups[:i]:
            raise ValueError(f"groups[{i}] {group!r} is defined twice; legal: each group once")
    named: list[tuple[str, str]] = [(f"pools[{i}]", pool.group) for i, pool in enumerate(pools)]
    named += [(f"backends[{i}]", backend.group) for i, backend in enumerate(backends)]
    for path, group in named:
        if group and group not in groups:
            raise ValueError(f"{path}.group {group!r} is not defined; legal: {', '.join(groups)}")
    if len(groups) == 1:
        return
    of = {pool.key: pool.group or groups[0] for pool in pools}
    for group in groups:
        if group not in of.values() and not discovers:
            raise ValueError(f"groups: {group!r} has no pools; legal: at least one, or discovery")
    _check_backends(groups, pools, backends)
    _check_paths(groups, pools, {backend.peer for backend in backends if backend.group}, slo_names)


def _check_paths(
    groups: Sequence[str], pools: Sequence[Pool], divided: Collection[str], slo_names: Callable[[Pool], Collection[str]]
) -> None:
    """divided: peers of backends with a part for each group; they bind no pool to another group."""
    # Imported here, since it loads all modules of the decider, which the command line does not need.
    from sluice.pools.guard.turns import paths

    of = {}
    for pool in pools:
        group = pool.group or groups[0]
        key = pool.key._replace(peer=f"{pool.peer} of {group}") if pool.peer in divided else pool.key
        of[key] = group, pool
    for path in paths((key, slo_names(pool)) for key, (_, pool) in of.items()):
        by_group = {of[key][0]: of[key][1].key for key in sorted(path)}
        if len(by_group) > 1:
            (one, first), (two, other) = sorted(by_group.items())[:2]
            raise ValueError(
                f"groups: {first} is of {one!r}, {other} of {two!r}, and one path leads through both: if both sizes"
                " changed together, no decider could tell which one had the effect; legal: one group for a path"
            )


def _check_backends(groups: Sequence[str], pools: Sequence[Pool], backends: Sequence[Backend]) -> None:
    """Where several groups call a backend, each needs its part of the capacity."""
    for i, backend in enumerate(backends):
        callers = {pool.group or groups[0] for pool in pools if pool.side == "client" and pool.peer == backend.peer}
        if not backend.group and len(callers) > 1:
            raise ValueError(
                f"backends[{i}].peer {backend.peer!r} is called from the groups {', '.join(sorted(callers))}; legal: a"
                " backend for each group, by `group`, with its part of the capacity"
            )
        parts = {other.group for other in backends if other.peer == backend.peer}
        if backend.group and (lacking := sorted(callers - parts)):
            raise ValueError(f"backends[{i}].peer {backend.peer!r}: no part for the group {lacking[0]}, which calls it")
