"""Queries of the report of the running stack, as the read-only user of the environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any

from clickhouse_connect.driver.exceptions import ClickHouseError

from sluice.cli.output import CliError
from sluice.cli.sql.http import one_line, reader, unreachable
from sluice.cli.traces.report.analysis.windows import BUCKET_MS
from sluice.clickhouse.connection import ClickHouse, NotLetInError, UrlError
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.metrics.query import pool_metrics

# The client logs each failed connection, which the error has too.
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())


class StackTables:
    """Methods raise CliError."""

    def __init__(self) -> None:
        server, authority = reader(), os.environ.get("SLUICE_CLICKHOUSE_CA", "")
        self._url = server.url
        try:
            self._database = ClickHouse(
                server.url, server.user, server.password, database=server.database, authority=authority
            )
        except UrlError as error:
            raise CliError(str(error)) from None

    def query(self, sql: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
        try:
            columns = self._database.columns(sql, parameters)
        except (ClickHouseError, NotLetInError, OSError) as error:
            raise CliError(_fault(self._url, error)) from None
        return zip(*columns, strict=True) if columns else iter(())

    def rows(self, name: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
        """Of the query in NAME.sql."""
        return self.query(files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8"), **parameters)

    def now_ms(self) -> int:
        """Unix time by the server's clock."""
        ((now_ms,),) = self.query("SELECT toUnixTimestamp64Milli(now64(3))")
        return int(now_ms)

    def counts(self, from_ms: int, until_ms: int) -> tuple[int, int, int]:
        """Pools, services and spans. Raises CliError where windows are longer than the report's buckets."""
        ((pools, services, spans, longest_ms),) = self.rows("counts", from_ms=from_ms, until_ms=until_ms)
        if longest_ms > BUCKET_MS:
            raise CliError(f"windows of {longest_ms} ms are not legal; legal: at most {BUCKET_MS} ms")
        return int(pools), int(services), int(spans)

    def metrics(self, services: Iterable[str], now_ms: int) -> MetricsReading:
        try:
            return pool_metrics(self._database, services, now_ms)
        except (ClickHouseError, NotLetInError, OSError) as error:
            raise CliError(_fault(self._url, error)) from None


def _fault(url: str, error: Exception) -> str:
    if "HTTPConnectionPool" in str(error):  # the client's error has urllib3's text
        return unreachable(url, error)
    return f"cannot read ClickHouse at {url}: {one_line(str(error), 0)}"
