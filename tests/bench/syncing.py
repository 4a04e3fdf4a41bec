"""What it costs that the shipped configurations sync what they acknowledge, beside the same without.

Kafka: messages as the collector sends them, one after the other and as many as the client sends ahead, to a topic that
is synced at each (`log.flush.interval.messages=1` of the broker) and to one that the kernel syncs. ClickHouse: rows of
`windows`, into the table as it ships and into one without `fsync_after_insert` and `fsync_part_directory`.
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from clickhouse_connect.driver.client import Client
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from migrate.__main__ import schema_up
from sluice_kit.servers.clickhouse import clickhouse
from sluice_kit.servers.kafka import kafka
from stack.settings import REPOSITORY

MESSAGE = b"\0" * 34_000
"""100 spans of 340 bytes."""
ALONE, AHEAD, INSERTS, ROUNDS = 200, 3_000, 40, 5
ROWS = 2_000
"""Of an insert: what 1,000 pools change in a second, their callers' too."""
NEVER = str(2**63 - 1)
WINDOWS = REPOSITORY / "storage/clickhouse/tables/windows.sql"
FILL = """
    INSERT INTO {table}
        (side, service, peer, instance, bucket, bucket_ms, busy_ns, completions, errors, latency, version)
    SELECT 'server', concat('service-', toString(number % 1000)), '', 'a',
        fromUnixTimestamp64Milli(1800000000000 + 100 * ({at} + intDiv(number, 1000))),
        100, rand() % 100000000, rand() % 100, 0, map(1280, toUInt32(rand() % 100)), 1
    FROM numbers({rows})
"""
Rows = list[tuple[str, str]]


def run(quick: bool = False) -> Rows:
    """Rows (what, figure) for the table: the median of the rounds, which take turns."""
    rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        with kafka(Path(folder)) as broker:
            rows = of_kafka(broker.bootstrap, rounds)
        with clickhouse(Path(folder)) as server:
            schema_up(server.writer_url, "sluice", wait_s=30)
            return rows + of_clickhouse(server.client("sluice"), rounds)


def of_kafka(bootstrap: str, rounds: int) -> Rows:
    topics = [NewTopic("synced", 1), NewTopic("unsynced", 1, config={"flush.messages": NEVER})]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics(topics).values():
        made.result(60)
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 5})

    def alone(topic: str) -> float:
        for _ in range(ALONE):
            producer.produce(topic, MESSAGE)
            producer.flush()
        return ALONE

    def ahead(topic: str) -> float:
        for _ in range(AHEAD):
            producer.produce(topic, MESSAGE)
        producer.flush()
        return AHEAD

    return [
        row("Kafka, messages of 34 kB a second, each once the one before is acknowledged", topics_of(alone), rounds),
        row("the same, sent ahead", topics_of(ahead), rounds),
    ]


def topics_of(send: Callable[[str], float]) -> Mapping[str, Callable[[], float]]:
    return {"synced": lambda: send("synced"), "unsynced": lambda: send("unsynced")}


def of_clickhouse(client: Client, rounds: int) -> Rows:
    create = WINDOWS.read_text().replace("IF NOT EXISTS windows", "unsynced")
    client.command(create.rstrip().removesuffix(";") + ", fsync_after_insert = 0, fsync_part_directory = 0")
    at = 0

    def insert(table: str) -> float:
        nonlocal at
        for _ in range(INSERTS):
            client.command(FILL.format(table=table, at=at, rows=ROWS))
            at += ROWS // 1_000
        return INSERTS

    kinds = {"synced": lambda: insert("windows"), "unsynced": lambda: insert("unsynced")}
    return [row(f"ClickHouse, inserts of {ROWS:,} rows a second", kinds, rounds)]


def row(what: str, kinds: Mapping[str, Callable[[], float]], rounds: int) -> tuple[str, str]:
    """Each kind does something and returns how often; the first is what ships."""
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, do in kinds.items():
            begun = time.perf_counter()
            done = do()
            rates[kind].append(done / (time.perf_counter() - begun))
    synced, unsynced = (median(of_kind) for of_kind in rates.values())
    return what, f"{synced:,.0f}; not synced {unsynced:,.0f}: {synced / unsynced:.2f} of it"
