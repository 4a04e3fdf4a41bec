"""Roles of spans from `spans_left_out` and `windows_10s`, by the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.model.keys import PoolKey
from sluice.pools.roles import query
from sluice.pools.roles.span_roles import SpanRoles
from sluice_kit.servers.rows import now

pytestmark = pytest.mark.integration

LEFT_OUT = ["side", "service", "peer", "operation", "action", "rule", "window", "window_s", "spans", "duration_ns"]
WINDOWS = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"]
WINDOWS += ["max_busy_ns", "completions", "errors", "latency", "version", "seen"]


def test_three_minutes_of_some_services_without_the_newest(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "SERVICES", 1)
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10

    def left(age_s: int, action: str, rule: str, spans: int, service: str = "roles-web") -> list[object]:
        window = datetime.fromtimestamp(now_s - age_s, UTC)
        return ["server", service, "", "", action, rule, window, 10, spans, 1, spans]

    def counted(age_s: int, completions: int, instance: str = "i-0", version: int = 1) -> list[object]:
        start = datetime.fromtimestamp(now_s - age_s, UTC)
        key = ["server", "roles-web", "", instance, start, 100]
        return [*key, 1, 1, 1, 1, completions, 0, {}, version, start]

    rows = [
        left(60, "not_a_pool", "nodejs", 99),  # the newest minute
        left(70, "not_a_pool", "nodejs", 20),
        left(240, "not_a_pool", "nodejs", 10),
        left(250, "not_a_pool", "nodejs", 99),  # too old
        left(100, "leave_out", "probe-path", 4),
        left(100, "leave_out", "probe-path", 5),  # a later version of the same window
        left(100, "around", "websocket", 3, service="roles-other"),
    ]
    client.insert("spans_left_out", rows, column_names=[*LEFT_OUT, "version"])
    windows = [counted(70, 15), counted(70, 20, version=2), counted(90, 10, "i-1"), counted(60, 7)]
    client.insert("windows_10s", windows, column_names=WINDOWS)
    services = ["roles-web", "roles-none", "roles-other"]
    assert query.span_roles(ClickHouse(database.url, READER), services, 1_000 * now_s) == {
        PoolKey("roles-web", "server", ""): SpanRoles(30, {"probe-path": 5}, {"nodejs": 30}),
        PoolKey("roles-other", "server", ""): SpanRoles(0, {"websocket": 3}),
    }
