"""Measures each query of the dashboards on the week of data that week.sql describes, and prints the slowest ones.

It starts an engine of its own. Run it in the repository's folder (2 to 4 minutes):

    PYTHONPATH=dashboards:storage:tests:tests/kit .cache/venvs/sluice/bin/python dashboards/tests/week.py
"""

import json
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from migrate.__main__ import schema_up
from sluice_kit.fakes.grafana import Scope, expand
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.rollups import stop_rollups
from sluice_kit.servers.rows import now

HERE = Path(__file__).parent
HOURS = (24 * 7, 24, 3)
CHOSEN = {"service": "s1", "side": "server", "peer": "-", "threshold_ms": "250"}
CHOSEN |= {"services": "*", "roots": "*", "upstreams": "*", "sessions": "*"}
SETTINGS = {"max_threads": 1, "max_insert_threads": 1}


def queries() -> list[tuple[str, str]]:
    """Name and SQL of each query of panels and annotations."""
    found = []
    for file in sorted((HERE.parent / "json").glob("*.json")):
        board = json.loads(file.read_text())
        panels = [panel for item in board["panels"] for panel in item.get("panels") or [item]]
        for shown in [*panels, *board["annotations"]["list"]]:
            targets = shown.get("targets") or [shown.get("target", {})]
            name = f"{file.stem}: {shown.get('title') or shown.get('name')}"
            found += [(name, target["rawSql"]) for target in targets if "rawSql" in target]
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        writer = server.client("sluice")
        stop_rollups(writer)
        for statement in (HERE / "week.sql").read_text().split(";\n"):
            writer.command(statement, settings=SETTINGS)
        reader = server.client("sluice", user="sluice_reader")
        end, took = now(reader), []
        for hours in HOURS:
            start = end - timedelta(hours=hours)
            scope = Scope(round(start.timestamp() * 1e3), round(end.timestamp() * 1e3), hours * 3600, CHOSEN)
            for name, sql in queries():
                begun = time.monotonic()
                rows = reader.query(expand(sql, scope)).summary["read_rows"]
                took.append((time.monotonic() - begun, hours, name, rows))
    for spent, hours, name, rows in sorted(took, reverse=True)[:15]:
        print(f"{spent:.2f} s for {hours} h: {name} ({rows} rows read)")
    print(f"{len(took)} queries, {sum(spent > 2 for spent, *_ in took)} of them above 2 s")


if __name__ == "__main__":
    main()
