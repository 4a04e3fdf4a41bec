"""Explains each query of the dashboards on an engine that has the schema and no rows, and prints those that it refuses:
they do not parse, or name a table or column that does not exist. `make lint` runs it.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from migrate.__main__ import schema_up
from sluice_kit.fakes.grafana import Scope, expand
from sluice_kit.servers.clickhouse import clickhouse

JSON = Path(__file__).resolve().parents[1] / "json"
# A minute. `1` is legal where a variable is a number and where it is text.
SCOPE = Scope(1_000_000_000_000, 1_000_000_060_000, 5000, defaultdict(lambda: "1", side="server"))


def queries(part: Any, title: str = "") -> Iterator[tuple[str, str]]:
    """Title and SQL of each query of a dashboard: of panels, variables and annotations."""
    if isinstance(part, dict):
        title = part.get("title") or part.get("name") or title
        if "rawSql" in part:
            yield title, part["rawSql"]
    for child in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from queries(child, title)


def faults(client: Client, board: dict[str, Any]) -> list[str]:
    """Each query that the engine refuses, with its reason in one line."""
    found = []
    for title, sql in queries(board):
        try:
            client.command(f"EXPLAIN {expand(sql, SCOPE)}")
        except (DatabaseError, LookupError) as error:
            found.append(f"{board['uid']}: {title}: {' '.join(str(error).split())[:300]}")
    return found


def main() -> int:
    boards = [json.loads(file.read_text()) for file in sorted(JSON.glob("*.json"))]
    with tempfile.TemporaryDirectory() as folder, clickhouse(Path(folder)) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        client = server.client("sluice", user="sluice_reader")
        found = [fault for board in boards for fault in faults(client, board)]
    print("\n".join([*found, f"{sum(1 for _ in queries(boards))} queries of dashboards, {len(found)} refused"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
