"""The jobs' sink writes to a real ClickHouse whose table is altered meanwhile: no row is lost, and what is not written
is said. The load runs on from test to test."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from migrate.__main__ import schema_up
from sluice.cli.traces.critical_path.walker import command
from sluice_kit.local_stack.driver import PATIENCE_S
from sluice_kit.servers.clickhouse import PASSWORD, WRITER, clickhouse
from stack.installs import FLINK_HOME

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
JAVA = Path(__file__).with_name("java")
DAY_MS = 86_400_000
ROWS_PER_S = 200
DAYS = 250
# Of row n, as the Java program sends it: is all of it there? `errors` is left out: a test drops that column.
RIGHT = (
    "toUnixTimestamp64Milli(bucket) = {base:Int64} + completions * {step:Int64} AND busy_ns = 1000 * completions"
    " AND latency = map(completions % 1000, completions)"
)


@dataclass
class Load:
    """The sink while it writes rows 1, 2, ... to `windows`."""

    client: Client
    process: subprocess.Popen[bytes]
    log: Path
    base_ms: int

    def alter(self, what: str) -> None:
        self.client.command(f"ALTER TABLE windows {what}")

    def rows(self, table: str = "windows", step_ms: int = 100) -> tuple[int, int, int, int]:
        """How many rows are there, the lowest and the highest number, and how many are right."""
        query = f"SELECT count(), min(completions), max(completions), countIf({RIGHT}) FROM {table} FINAL"
        (row,) = self.client.query(query, parameters={"base": self.base_ms, "step": step_ms}).result_rows
        count, least, most, right = map(int, row)
        return count, least, most, right

    def until(self, probe: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not probe():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, f"no {what} but {self.rows()}: {self.log.read_text()[-3000:]}"
            time.sleep(0.1)

    def goes_on(self) -> None:
        """Waits for more rows, and until none before them is missing: a batch may be written in parts, in any order."""
        goal = self.rows()[2] + ROWS_PER_S // 2

        def whole() -> bool:
            count, least, most, right = self.rows()
            return most >= goal and (count, least, right) == (most, 1, most)

        self.until(whole, f"row {goal} with all before it")

    def says(self, *words: str) -> bool:
        return any(all(word in line for word in words) for line in self.log.read_text().splitlines())


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    folder = tmp_path_factory.mktemp("altered")
    *java, jar, _ = command()
    words = [
        *java,
        f"{jar}:{FLINK_HOME}/lib/*",
        "-Xmx512m",
        "-XX:TieredStopAtLevel=1",
        "-Dorg.apache.logging.log4j.level=WARN",
    ]
    base_ms = (time.time_ns() // 1_000_000 // DAY_MS - 1) * DAY_MS
    log = folder / "log"
    with clickhouse(folder) as engine, log.open("wb") as file:
        schema_up(engine.writer_url, "sluice", wait_s=30)
        client = engine.client("sluice")
        client.command("DROP VIEW fill_windows_1s")  # it names columns that are dropped here
        client.command("CREATE TABLE windows_of_days AS windows")
        client.command("ALTER TABLE windows_of_days REMOVE TTL")
        server = [engine.url, WRITER, PASSWORD]
        words += [str(JAVA / "SequenceToWindows.java"), *server, str(ROWS_PER_S), str(base_ms)]
        process = subprocess.Popen(words, stdout=file, stderr=file)
        try:
            yield Load(client, process, log, base_ms)
        finally:
            process.kill()
            process.wait()


def test_columns_are_widened_added_reordered_changed_and_dropped_under_load(load: Load) -> None:
    load.goes_on()
    load.alter("MODIFY COLUMN completions UInt64, MODIFY COLUMN latency Map(Int32, UInt64)")
    load.goes_on()
    load.alter("ADD COLUMN region String DEFAULT 'north' FIRST, MODIFY COLUMN busy_ns UInt64 AFTER version")
    load.alter("MODIFY COLUMN errors String CODEC(ZSTD(1))")
    load.goes_on()
    load.alter("DROP COLUMN errors")
    load.goes_on()
    load.alter("ADD COLUMN errors Float64")
    load.goes_on()
    query = "SELECT count() FROM windows WHERE region != 'north'"
    assert load.client.query(query).result_rows == [(0,)]
    query = "SELECT store, table, reason, key, rows > 0 FROM rejected_rows FINAL"
    assert load.client.query(query).result_rows == [("clickhouse", "windows", "column_missing", "errors", 1)]
    assert load.says("table windows has no column errors")
    # It is looked for again, and filled as soon as it is found.
    filled = "SELECT countIf(errors > 0) > 0 AND countIf(errors NOT IN (0, completions % 7)) = 0 FROM windows"
    load.until(lambda: load.client.query(filled).result_rows == [(1,)], "errors")
    assert not load.says("TableAtFaultException")


def test_a_table_that_takes_no_row_fails_the_job_and_nothing_is_lost(load: Load) -> None:
    load.goes_on()
    load.alter("ADD CONSTRAINT never CHECK version > 1")
    load.until(lambda: load.says("TableAtFaultException", "windows", "Constraint `never`"), "failure")
    before = load.rows()
    load.alter("RENAME COLUMN latency TO kept")
    load.alter("ADD COLUMN latency Array(UInt8)")
    failure = ("TableAtFaultException", "table windows: column latency is Array(UInt8), which takes no histograms")
    load.until(lambda: load.says(*failure), "failure that names the column")
    load.alter("DROP COLUMN latency")
    load.alter("RENAME COLUMN kept TO latency")
    assert load.rows() == before
    load.alter("DROP CONSTRAINT never")
    load.goes_on()
    query = "SELECT count() FROM rejected_rows WHERE reason != 'column_missing'"
    assert load.client.query(query).result_rows == [(0,)]


def test_an_insert_of_more_days_than_it_may_span_arrives(load: Load) -> None:
    """100 is the server's default for max_partitions_per_insert_block."""
    load.until(lambda: load.rows("windows_of_days", DAY_MS)[0] == DAYS, "rows of all days")
    assert load.rows("windows_of_days", DAY_MS) == (DAYS, 1, DAYS, DAYS)
