"""Reads the candidate pools of the newest ten minutes."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from sluice.model.keys import PoolKey

if TYPE_CHECKING:  # it imports numpy, which `./sluice doctor` does without
    from sluice.clickhouse.database import Database

SQL = files(__package__).joinpath("candidates.sql").read_text(encoding="utf-8")
LASTS_S = 600


class PoolInSpans(NamedTuple):
    """requests: completed in the newest ten minutes. instances: ordered by name."""

    key: PoolKey
    requests: int
    instances: tuple[str, ...]


def pools_in_spans(database: Database, services: Iterable[str], now_ms: int) -> list[PoolInSpans]:
    """Those with most requests first. services: () for all. Raises the database's errors."""
    # A window of a minute counts with its whole minute.
    parameters: dict[str, object] = {"services": sorted(set(services)), "from_s": now_ms // 1_000 - LASTS_S}
    columns = database.columns(SQL, parameters)
    return [
        PoolInSpans(PoolKey(service, side, peer), requests, tuple(instances))
        for service, side, peer, requests, instances in (zip(*columns, strict=True) if columns else ())
    ]
