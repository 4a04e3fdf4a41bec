"""Files of a stack that is down, cut to half of their length: does it start, what does it say, does it go on?"""

import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sluice_kit.faults.counted import known, wrong
from sluice_kit.faults.machine import kill_all
from sluice_kit.local_stack.driver import STATE, Stack, drive
from sluice_kit.local_stack.kills import newest_in_graph, newest_window, wait_current
from sluice_kit.traffic.traffic import Traffic
from stack.broken_files import remedy, size

LOADED_S = 20.0
#: By what they are, patterns within the stack's state: of the files that match, the newest of the largest is cut.
FILES = {
    "Flink's newest checkpoint": "flink/checkpoints/*/chk-*/_metadata",
    "state of Flink's checkpoints": "flink/checkpoints/*/shared/*",
    "Kafka's segment of spans": "data/kafka/otlp_spans-0/*.log",
    "Kafka's segment of decisions": "data/kafka/sluice_decisions-0/*.log",
    "Kafka's index": "data/kafka/otlp_spans-0/*.index",
    "offsets of groups": "data/kafka/__consumer_offsets-*/*.log",
    "Kafka's recovery points": "data/kafka/recovery-point-offset-checkpoint",
    "a part of ClickHouse": "data/clickhouse/store/*/*/*_*_*_*/data.bin",
    "checksums of a part": "data/clickhouse/store/*/*/*_*_*_*/checksums.txt",
    "Neo4j's transactions": "data/neo4j/transactions/neo4j/neostore.transaction.db.*",
    "Neo4j's store of nodes": "data/neo4j/databases/neo4j/neostore*",
    "the collector's queue": "data/collector/exporter_kafka__traces",
    "supervisord's configuration": "supervisor/supervisord.conf",
}


@dataclass(frozen=True)
class Outcome:
    """started: whether `up` ended with the stack ready. said: what `up` says to do where it did not, else what the
    doctor finds. current_s: until new spans were in the tables and in the graph; None: never, and the file was put
    back."""

    what: str
    started: bool
    said: list[str]
    current_s: float | None


def cut_short(stack: Stack, what: str, prefix: str) -> Outcome:
    """With the stack up before and afterwards."""
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], prefix, 300, seed=1) as traffic:
        wait_current(partial(known, newest_window, stack, prefix), time.time())
        time.sleep(LOADED_S)
        kill_all()
        path, saved = broken(FILES[what])
        began, logs = time.monotonic(), {log: size(log) for log in sorted((STATE / "logs").glob("*.log"))}
        try:
            drive("up", "--no-demo")
        except subprocess.SubprocessError:
            remedies = [remedy(log, before) for log, before in logs.items()]
            drive("down")
            shutil.copy2(saved, path)
            drive("up", "--no-demo")
            return Outcome(what, False, [text for text in remedies if text], None)
        try:
            wait_current(partial(known, newest_window, stack, prefix), time.time())
            wait_current(partial(known, newest_in_graph, stack, prefix), time.time())
        except AssertionError:
            said = wrong(stack)
            drive("down")
            shutil.copy2(saved, path)
            drive("up", "--no-demo")
            return Outcome(what, True, said, None)
        current_s = time.monotonic() - began
        traffic.stop(within_s=120)
    return Outcome(what, True, wrong(stack), current_s)


def broken(pattern: str) -> tuple[Path, Path]:
    """The file that was cut, and a copy of what it was. FileNotFoundError: none matches."""
    found = [path for path in STATE.glob(pattern) if path.is_file() and path.stat().st_size]
    if not found:
        raise FileNotFoundError(f"{STATE}: no file {pattern}")
    path = max(found, key=lambda path: (path.stat().st_size.bit_length(), path.stat().st_mtime))
    saved = STATE.parent / "cut-short"
    shutil.copy2(path, saved)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    return path, saved
