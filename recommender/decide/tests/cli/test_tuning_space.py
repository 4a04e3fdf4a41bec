"""`sluice tuning space` on the real engine, by paths whose figures are worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from sluice.cli.main import cli
from sluice_kit.servers.clickhouse import ClickHouse

pytestmark = pytest.mark.integration

APP = """
target: shop
root: {service: web}
parameters:
  - {name: web.threads, service: web, kind: integer, low: 1, high: 64, default: 8}
  - {name: cache.memory_mb, service: cache, kind: integer, low: 1, high: 64, default: 8}
  - {name: db.workers, service: db, kind: integer, low: 1, high: 64, default: 8}
  - {name: queue.batch, service: queue, kind: integer, low: 1, high: 64, default: 8}
objective: {minimize: {p95_ms: 1}}
"""
MS = 10**6


def test_services_with_a_millisecond_of_their_own_are_kept(
    database: ClickHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 traces; of each 5 ms in web, 0.2 ms in cache; in a tenth of them 40 ms in db, always the same. No queue."""
    now = datetime.now(UTC).replace(microsecond=0)
    client = database.client("sluice")
    root = ["root_service", "root_operation", "complete"]
    paths = [*root, "signature", "window_s", "window", "traces", "latency", "version"]
    client.insert("critical_paths", [["web", "GET /", True, "web", 10, now, 100, {}, 1]], column_names=paths)
    columns = [*root, "service", "window_s", "window", "traces", "self_sum", "self_sum2", "version"]
    services = [("web", 100, 5.0), ("cache", 100, 0.2), ("db", 10, 40.0)]
    rows = [
        ["web", "GET /", True, name, 10, now, n, int(n * ms * MS), int(n * (ms * MS) ** 2)] for name, n, ms in services
    ]
    client.insert("path_services", [[*row, 1] for row in rows], column_names=columns)
    app = tmp_path / "app.yaml"
    app.write_text(APP)
    monkeypatch.setenv("SLUICE_CLICKHOUSE", database.url)
    done = CliRunner().invoke(cli, ["tuning", "space", str(app), "-o", "json"])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    assert printed["kept"] == ["web.threads", "db.workers"]
    assert [(service["service"], service["why"]) for service in printed["left_out"]] == [
        ("cache", "has 0.2 ms of its own on the critical path"),
        ("queue", "has no spans under this root"),
    ]
    table = CliRunner().invoke(cli, ["tuning", "space", str(app), "--rule", "named", "--service", "cache"]).output
    assert "1 of 4 parameters remain" in table
    # Of a trace's 5 + 0.2 + 0.1 x 40 ms.
    assert ["db", "1", "10%", "40.00", "43%", "0.00", "no:", "is", "not", "named"] in [
        line.split() for line in table.splitlines()
    ]
    most = CliRunner().invoke(cli, ["tuning", "space", str(app), "--rule", "bottleneck", "-o", "json"]).output
    assert json.loads(most)["kept"] == ["web.threads", "db.workers"]  # 9 of the 9.2 ms
    app.write_text(APP.replace("{service: web}", "{service: nobody}"))
    nothing = CliRunner().invoke(cli, ["tuning", "space", str(app)])
    assert (nothing.exit_code, "no complete critical path of nobody" in nothing.output) == (1, True)
