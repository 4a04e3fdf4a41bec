"""What a power cut leaves of parts that were not on the disk: empty files, of which ClickHouse by default takes 100."""

from pathlib import Path

from sluice_kit.servers.clickhouse import clickhouse

PARTS = 120


def test_parts_that_are_empty_are_set_aside_and_named(tmp_path: Path) -> None:
    with clickhouse(tmp_path) as server:
        client = server.client()
        client.command("CREATE DATABASE sluice")
        client.command("CREATE TABLE sluice.numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
        client.command("SYSTEM STOP MERGES sluice.numbers")
        for number in range(PARTS + 1):
            client.command(f"INSERT INTO sluice.numbers VALUES ({number})")
        client.close()
    parts = sorted(tmp_path.glob("clickhouse/store/*/*/all_*_0"), key=lambda part: int(part.name.split("_")[1]))
    assert len(parts) == PARTS + 1
    for part in parts[:PARTS]:
        for file in part.iterdir():
            file.write_bytes(b"")
    with clickhouse(tmp_path) as server:
        rows = server.client("sluice", "sluice_reader").query("SELECT n FROM numbers").result_rows
        # As `sluice doctor` asks.
        query = (
            "SELECT table, count() FROM system.detached_parts WHERE database = currentDatabase()"
            " AND match(reason, '^(broken|unexpected)') GROUP BY table"
        )
        broken = server.client("sluice", "sluice_reader").query(query).result_rows
    assert list(rows) == [(PARTS,)]
    assert list(broken) == [("numbers", PARTS)]
