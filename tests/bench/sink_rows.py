"""What a row costs the sink of ClickHouse, in CPU: from Flink's row to the body of an insert, beside the way by plain
values that it replaced."""

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from stack.layout import CACHE, java_home
from stack.settings import REPOSITORY

JAVA = Path(__file__).with_name("java")
SOURCES = [JAVA / "SinkLoop.java", JAVA / "RowsOfSink.java"]
BATCH_ROWS = 10_000
OPENED = "--add-opens=java.base/java.nio=ALL-UNNAMED"


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    seconds = "2" if quick else "5"
    home = java_home()
    jar = REPOSITORY / "streaming-jobs/functions/target/sluice-functions.jar"
    found: list[tuple[str, str]] = []
    with TemporaryDirectory() as classes:
        path = f"{classes}:{jar}:{CACHE}/flink/home/lib/*"
        words = [home / "bin/javac", "-cp", path, "-d", classes, *SOURCES]
        subprocess.run([str(word) for word in words], check=True)
        for cells in (1, 10, 40):
            loop = [home / "bin/java", "-XX:+UseSerialGC", "-Xmx512m", OPENED, "-cp", path]
            loop += ["dev.sluice.sinks.clickhouse.SinkLoop", str(BATCH_ROWS), str(cells), seconds, seconds]
            done = subprocess.run([str(word) for word in loop], stdout=subprocess.PIPE, check=True)
            told = json.loads(done.stdout)
            plain, straight = told["plain_ns"], told["straight_ns"]
            found += [
                (f"histogram of {cells}: reference, by plain values", f"{plain:,.0f} ns/row"),
                (f"histogram of {cells}: straight from Flink's rows", f"{straight:,.0f} ns/row"),
                (f"histogram of {cells}: reference / straight", f"{plain / straight:.1f}"),
            ]
    return found
