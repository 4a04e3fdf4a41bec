"""Pool sizes as a table."""

from collections.abc import Iterable
from datetime import datetime

from rich.table import Table
from rich.text import Text

from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.words import age, optional, reasons, size_range, state_name
from sluice.v1.pool_size_pb2 import PoolSize

_STYLES = {"PROVIDED": "green", "GUARDED": "green", "UNSATURATED": "cyan", "STALE": "red", "NO_DATA": "red"}


def pool_table(sizes: Iterable[PoolSize], now: datetime) -> Table:
    """One row a pool; `now` (with time zone) gives the ages."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("POOL", no_wrap=True)
    table.add_column("STATE", no_wrap=True)
    for name in ("CURRENT", "TARGET", "RANGE", "CONFIDENCE"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("AGE", no_wrap=True)
    table.add_column("REASONS", overflow="fold")
    for size in sizes:
        state = state_name(size.state)
        table.add_row(
            Text(pool_name(size.pool)),
            Text(state, style=_STYLES.get(state, "yellow")),
            optional(size, "current"),
            target(size),
            size_range(size),
            f"{size.confidence:.2f}",
            age(size, now),
            Text(reasons(size)),
        )
    return table


def target(size: PoolSize) -> str:
    """`12`, or `12 (was 20)` where the guard changed the estimate."""
    text = optional(size, "target")
    guarded = size.HasField("unguarded_target") and size.HasField("target")
    return f"{text} (was {size.unguarded_target})" if guarded and size.unguarded_target != size.target else text


def change_line(size: PoolSize, now: datetime) -> str:
    """One line for one change: `12:30:05 cart/server PROVIDED current 64 target 12: the curve bends at 12.4`."""
    return (
        f"{now:%H:%M:%S} {pool_name(size.pool)} {state_name(size.state)} current {optional(size, 'current')} "
        f"target {target(size)}: {reasons(size)}"
    )
