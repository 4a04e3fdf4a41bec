"""Prints pool sizes as a table."""

from collections.abc import Iterable
from datetime import datetime

from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.text import action, age, basis, current, holds_up, optional, reasons, size_range, state_name
from sluice.cli.table import columns, print_table
from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.pool_size_pb2 import PoolSize

_STYLES = (
    ("PROVIDED", "green"),
    ("GUARDED", "green"),
    ("UNSATURATED", "cyan"),
    ("LEARNING", "yellow"),
    ("STALE", "red"),
    ("NO_DATA", "red"),
)
_COLUMNS = columns(
    *("POOL", "STATE", "CURRENT>", "TARGET>", "ACTION", "BASIS", "RANGE>", "CONFIDENCE>"),
    *("HOLDS UP?", "AGE", "REASONS~"),
    STATE=_STYLES,
)


def print_pools(sizes: Iterable[PoolSize], now: datetime) -> None:
    """One row a pool; `now` (with time zone) gives the ages."""
    print_table(_COLUMNS, (_row(size, now) for size in sizes))


def _row(size: PoolSize, now: datetime) -> tuple[str, ...]:
    return (
        pool_name(size.pool),
        state_name(size.state),
        current(size),
        target(size),
        action(size),
        basis(size),
        size_range(size),
        f"{size.confidence:.2f}",
        holds_up(size),
        age(size, now),
        reasons(size),
    )


def by_importance(sizes: Iterable[PoolSize]) -> list[PoolSize]:
    """First the pools of critical services, then by the largest share of a root operation's p95; else as they come."""

    def rank(size: PoolSize) -> tuple[bool, float]:
        first = next(iter(size.blame.holds_up), None)
        return (True, 0.0) if first is None else (not first.critical, -first.share_of_p95)

    return sorted(sizes, key=rank)


def target(size: PoolSize) -> str:
    """`12`; `32 (best 16)` where a step or the bounds keep it from the best size; `32 on 1 of 4` where some of the
    pool's targets get it first."""
    text = optional(size, "target")
    if size.targets:
        text = f"{text} on {len(size.targets)} of {len(size.sizes)}"
    if size.action != Action.ACTION_APPLY or not (size.HasField("target") and size.HasField("unguarded_target")):
        return text
    best = size.unguarded_target
    lower = size.lower_bound if size.HasField("lower_bound") else best
    upper = size.upper_bound if size.HasField("upper_bound") else best
    return text if lower <= size.target <= upper else f"{text} (best {best})"


def change_line(size: PoolSize, now: datetime) -> str:
    """One line for one change: `12:30:05 cart/server PROVIDED current 64 target 12 APPLY by CURVE: it bends at 12`."""
    return (
        f"{now:%H:%M:%S} {pool_name(size.pool)} {state_name(size.state)} current {current(size)} "
        f"target {target(size)} {action(size)} by {basis(size)}: {reasons(size)}"
    )
