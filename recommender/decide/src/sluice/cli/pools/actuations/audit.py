"""Rows of the audit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.cli.output import CliError
from sluice.cli.pools.selector import Selector, pool_name
from sluice.cli.sql.result import as_objects, read_rows
from sluice.cli.table import columns

SQL = Path(__file__).with_name("audit.sql").read_text(encoding="utf-8")
COLUMNS = columns(
    *("AT (UTC)", "ID", "POOL", "INSTANCE", "OUTCOME", "BEFORE>", "ASKED>", "READ BACK>", "BASIS", "BY", "DETAIL~")
)

Row = Mapping[str, Any]


def audit(pool: Selector | None = None, id_: str = "", limit: int = 1) -> list[Row]:
    """The newest rows, as mappings from the column names of audit.sql."""
    names = {"service": "", "side": "", "peer": ""}
    if pool is not None:
        names = {"service": pool.service, "side": pool.side or "server", "peer": pool.peer}
    return list(as_objects(read_rows(SQL, {**names, "id": id_, "limit": str(limit)})))


def report(id_: str) -> Row:
    """The row whose id begins so. Raises CliError where there is none, or more than one."""
    rows = audit(id_=id_, limit=2)
    if not rows:
        raise CliError(f"no report begins with {id_!r}; `sluice actuations list` lists the newest")
    if len(rows) > 1 and rows[0]["request_id"] != id_:
        raise CliError(f"more than one report begins with {id_!r}: {', '.join(row['request_id'] for row in rows)}, ...")
    return rows[0]


def selector(row: Row) -> Selector:
    return Selector(row["service"], row["side"], row["peer"])


def cells(row: Row) -> list[str]:
    sizes = [row["previous"], row["requested"], "unbounded" if row["unbounded"] else row["read_back"]]
    return [
        str(row["at"]),
        row["request_id"],
        pool_name(selector(row).pool()),
        row["instance"] or row["target_name"],
        row["outcome"],
        *("-" if size is None else str(size) for size in sizes),
        row["basis"] or "-",
        row["by"] or row["actuator"],
        row["detail"],
    ]
