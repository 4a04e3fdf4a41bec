"""The history of one pool: the query and its table."""

from pathlib import Path

from sluice.cli.pools.selector import side_name
from sluice.cli.table import Column
from sluice.pools.v1.pool_pb2 import Pool

HISTORY_SQL = Path(__file__).with_name("history.sql").read_text(encoding="utf-8")
COLUMNS = (Column("AT (UTC)"), Column("WHAT"), Column("DETAIL", fold=True))


def parameters(pool: Pool, limit: int) -> dict[str, str]:
    return {"service": pool.service, "side": side_name(pool), "peer": pool.peer, "limit": str(limit)}
