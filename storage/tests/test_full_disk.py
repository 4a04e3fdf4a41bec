"""A disk of ClickHouse that fills slowly, and one that is full at once, under inserts."""

import os
import threading
import time
from pathlib import Path

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, Error

from sluice_kit.faults import disks
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse

SIZE_BYTES = 512 << 20
TABLES = 3
pytestmark = pytest.mark.skipif(not disks.possible(), reason="needs root and loop devices")


def test_inserts_are_refused_and_queries_answered_before_the_disk_is_full(tmp_path: Path) -> None:
    place = tmp_path / "clickhouse"
    place.mkdir()
    with disks.disks({"clickhouse": place}, tmp_path, SIZE_BYTES), clickhouse(tmp_path) as server:
        server.client().command("CREATE DATABASE sluice")
        client = server.client("sluice")
        client.command("CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
        client.command("INSERT INTO numbers VALUES (1)")
        filler = place / ".filler"
        with filler.open("wb") as file:
            free = os.statvfs(place)
            os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - (40 << 20))
        with pytest.raises(DatabaseError, match="NOT_ENOUGH_SPACE"):
            client.command("INSERT INTO numbers VALUES (2)")
        assert client.command("SELECT count() FROM numbers") == 1
        filler.unlink()
        client.command("INSERT INTO numbers VALUES (3)")
        assert client.command("SELECT count() FROM numbers") == 2


def inserted(server: ClickHouse, table: int, stop: threading.Event) -> list[int]:
    """Inserts a number after the other until it stops or fails; those that were acknowledged."""
    client, acknowledged = server.client("sluice"), []
    while not stop.is_set():
        number = len(acknowledged)
        try:
            client.command(f"INSERT INTO numbers_{table} VALUES ({number})")
        except Error:
            return acknowledged
        acknowledged.append(number)
    return acknowledged


@pytest.mark.parametrize("_round", range(3))
def test_an_acknowledged_insert_outlives_a_disk_that_is_full_at_once(tmp_path: Path, _round: int) -> None:
    place = tmp_path / "clickhouse"
    place.mkdir()
    with disks.disks({"clickhouse": place}, tmp_path, SIZE_BYTES) as made:
        with clickhouse(tmp_path) as server:
            server.client().command("CREATE DATABASE sluice")
            for table in range(TABLES):
                server.client("sluice").command(
                    f"CREATE TABLE numbers_{table} (n UInt64) ENGINE = MergeTree ORDER BY n"
                )
            stop, counted = threading.Event(), [[] for _ in range(TABLES)]

            def insert(table: int) -> None:
                counted[table] = inserted(server, table, stop)

            writers = [threading.Thread(target=insert, args=(table,)) for table in range(TABLES)]
            for writer in writers:
                writer.start()
            time.sleep(3)  # so that merges are under way, too
            with made["clickhouse"].full():
                for writer in writers:
                    writer.join(60)
            stop.set()
        assert all(counted)
        with clickhouse(tmp_path) as server:
            for table in range(TABLES):
                rows = server.client("sluice").query(f"SELECT n FROM numbers_{table} ORDER BY n").result_rows
                assert {number for (number,) in rows} >= set(counted[table])
