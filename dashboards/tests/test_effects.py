"""The panel of goodput before and after changes counts minutes that are over."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from sluice_kit.fakes.grafana import Scope
from sluice_kit.servers.rows import now
from testbed.windows import latency_index

from .frames import by_title, queries, run

KEY = "service side peer at"
POOL = ["cart", "server", ""]
TABLES = ("windows_1m", "recommendations", "actuations")


def test_the_minute_under_way_is_no_loss(boards: dict[str, Any], bare: tuple[Client, Client], scope: Scope) -> None:
    """10 calls a second before the older change, 20 after it, and one call in the minute under way. The newer change
    has no whole minute after it."""
    writer, reader = bare
    end = now(writer)
    minute = end.replace(second=0, microsecond=0)
    calls = {nth: 600 if nth >= 4 else 1200 if nth else 1 for nth in range(9)}
    windows = [
        ["client", "frontend", "cart", "frontend-0", minute - timedelta(minutes=nth), {latency_index(20_000_000): n}, n]
        for nth, n in calls.items()
    ]
    older, newer = minute - timedelta(minutes=3, seconds=30), end
    changes = [[*POOL, at, "cart", "a", "cart-0", "APPLIED", 64, 8, nth] for nth, at in enumerate((older, newer), 1)]
    decisions = [[*POOL, at, 250.0, nth] for nth, at in enumerate((older, newer), 1)]
    for table, inserted, names in (
        ("windows_1m", windows, "side service peer instance start latency version"),
        ("actuations", changes, f"{KEY} target_name actuator instance outcome previous read_back revision"),
        ("recommendations", decisions, f"{KEY} threshold_ms revision"),
    ):
        writer.insert(table, inserted, column_names=names.split())
    until = round(end.timestamp() * 1000) + 1000
    (query,) = queries(by_title(boards, "Goodput before and after changes"))
    columns, rows = run(reader, query["rawSql"], replace(scope, from_ms=until - 3_600_000, until_ms=until))
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    for table in TABLES:
        writer.command(f"TRUNCATE TABLE {table}")
    assert [(row["before_per_s"], row["after_per_s"], row["gained_per_s"]) for row in found[1:]] == [(10, 20, 10)]
    assert [(row["after_per_s"], row["gained_per_s"]) for row in found[:1]] == [(None, None)]
