"""What happened to one pool: the query and its table."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from rich.table import Table
from rich.text import Text

from sluice.v1.pool_size_pb2 import SIDE_CLIENT, Pool

HISTORY_SQL = files(__package__).joinpath("history.sql").read_text(encoding="utf-8")


def parameters(pool: Pool, limit: int) -> dict[str, str]:
    side = "client" if pool.side == SIDE_CLIENT else "server"
    return {"service": pool.service, "side": side, "peer": pool.peer, "limit": str(limit)}


def history_table(rows: Iterable[Sequence[Any]]) -> Table:
    """Rows (time, what, detail)."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("AT (UTC)", no_wrap=True)
    table.add_column("WHAT", no_wrap=True)
    table.add_column("DETAIL", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table
