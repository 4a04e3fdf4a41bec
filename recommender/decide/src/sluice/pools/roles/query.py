"""Reads the roles of spans of services."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

from sluice.clickhouse.database import Database
from sluice.model.keys import PoolKey
from sluice.pools.roles.span_roles import SpanRoles, roles_of

SQL = files(__package__).joinpath("roles.sql").read_text(encoding="utf-8")
# Three minutes. The newest one is left out: the rollup of counted spans lags by 35 s.
FROM_S, TO_S = 240, 60
# A parameter of a query holds the names of so many services.
SERVICES = 500


def span_roles(database: Database, services: Iterable[str], now_ms: int) -> dict[PoolKey, SpanRoles]:
    """Of each pool of the services that has spans. Raises the database's errors."""
    names, now_s = sorted(set(services)), now_ms // 1_000
    roles: dict[PoolKey, SpanRoles] = {}
    for first in range(0, len(names), SERVICES):
        parameters = {"services": names[first : first + SERVICES], "from_s": now_s - FROM_S, "to_s": now_s - TO_S}
        columns = database.columns(SQL, parameters)
        roles |= roles_of(zip(*columns, strict=True)) if columns else {}
    return roles
