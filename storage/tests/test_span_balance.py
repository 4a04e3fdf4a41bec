"""Spans that collectors accepted against those on the topic, with restarts and repeats: numbers worked out by hand."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

# A full hour that the tables' time to live keeps.
NOON = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
NOON_MS = int(NOON.timestamp() * 1000)


def insert_counters(client: Client, rows: Iterable[tuple[str, str, str, int, int]]) -> None:
    """(instance, role, series, seconds after noon, reading)"""
    columns = ["role", "instance", "series", "kind", "window", "value_max", "version"]
    client.insert(
        "resource_metrics",
        [
            [f"collector_spans_{role}", instance, series, "counter", NOON + timedelta(seconds=at), value, 1]
            for instance, role, series, at, value in rows
        ],
        column_names=columns,
    )


def insert_counts(client: Client, rows: Iterable[tuple[str, str, int, int]]) -> None:
    """(job, outcome, seconds after noon, spans)"""
    client.insert(
        "ingest_counts",
        [[job, outcome, "cart", NOON + timedelta(seconds=at), 0, spans, 0, 1] for job, outcome, at, spans in rows],
        column_names=["job", "outcome", "service", "received", "messages", "spans", "emit_lag_ms", "version"],
    )


def balance(client: Client, from_ms: int = NOON_MS, minutes: int = 60) -> list[tuple[Any, ...]]:
    query = f"SELECT * FROM v_span_balance_between(from_ms = {from_ms}, until_ms = {from_ms + minutes * 60_000})"
    return [
        ((row[0].replace(tzinfo=UTC) - NOON) // timedelta(minutes=1), *row[1:])
        for row in client.query(query).result_rows
    ]


def test_all_that_is_accepted_is_on_the_topic(client: Client) -> None:
    """Two ways in, 10 and 5; then 20 more, of which 3 wait for a while and 2 were refused."""
    insert_counters(
        client,
        [
            ("one", "accepted", "grpc", -10, 100),
            ("one", "sent", "kafka", -10, 100),
            ("one", "accepted", "grpc", 0, 110),
            ("one", "accepted", "http", 50, 5),
            ("one", "sent", "kafka", 50, 115),
            ("one", "accepted", "http", 60, 25),
            ("one", "refused", "http", 60, 2),
            ("one", "sent", "kafka", 60, 132),
            ("one", "sent", "kafka", 120, 135),
            ("agent", "accepted", "grpc", 0, 10**6),  # sends to no topic
        ],
    )
    insert_counts(
        client,
        [
            ("concurrency", "accepted", 0, 9),
            ("concurrency", "too_large", 0, 1),
            ("concurrency", "accepted", 50, 5),
            ("concurrency", "accepted", 60, 17),
            ("concurrency", "accepted", 120, 3),
            ("call_graph", "accepted", 0, 10),
            ("resource_metrics", "accepted", 0, 999),
        ],
    )
    # minute, accepted, refused, sent, failed, on_topic, repeated, missing
    assert balance(client) == [
        (0, 15, 0, 15, 0, 15, 0, 0),
        (1, 20, 2, 17, 0, 17, 0, 3),
        (2, 0, 0, 3, 0, 3, 0, 0),
    ]
    # Counters go on from where they stood before the first minute.
    assert balance(client, NOON_MS + 60_000)[0] == (1, 20, 2, 17, 0, 17, 0, 3)


def test_loss_stays_and_what_was_given_up_is_none(client: Client) -> None:
    """Of 10, 2 are given up and counted, 3 are nowhere."""
    counters = [("accepted", "grpc", 10), ("sent", "kafka", 5), ("failed", "kafka", 2)]
    insert_counters(client, [("one", role, series, 0, value) for role, series, value in counters])
    insert_counts(client, [("concurrency", "accepted", 0, 5)])
    assert balance(client) == [(0, 10, 0, 5, 2, 5, 0, 3)]


def test_a_restart_begins_at_nothing_and_what_is_sent_again_is_no_loss(client: Client) -> None:
    """Killed after 10 of which Kafka had 4: the next process sends all 10 again. A sender repeats 6: counted twice."""
    insert_counters(
        client,
        [
            ("one", "accepted", "grpc", 0, 10),
            ("one", "sent", "kafka", 0, 0),
            ("two", "sent", "kafka", 60, 10),
            ("two", "accepted", "grpc", 120, 12),
            ("two", "sent", "kafka", 120, 22),
        ],
    )
    insert_counts(
        client,
        [
            ("concurrency", "accepted", 0, 4),
            ("concurrency", "accepted", 60, 6),
            ("concurrency", "repeated_message", 60, 4),
            ("concurrency", "accepted", 120, 6),
            ("concurrency", "repeated_message", 120, 6),
        ],
    )
    assert balance(client) == [
        (0, 10, 0, 0, 0, 4, 0, 6),
        (1, 0, 0, 10, 0, 10, 4, -4),
        (2, 12, 0, 12, 0, 12, 6, -4),
    ]


def test_spans_on_the_topic_since_a_time_within_10_s(client: Client) -> None:
    insert_counts(
        client,
        [
            ("concurrency", "accepted", -10, 1),
            ("concurrency", "accepted", 0, 2),
            ("concurrency", "repeated_message", 10, 4),
            ("call_graph", "accepted", 0, 5),  # behind
            ("resource_metrics", "accepted", 0, 999),
        ],
    )

    def since(seconds: float) -> tuple[Any, ...]:
        query = f"SELECT * FROM v_spans_on_topic(since_ms = {NOON_MS + round(seconds * 1000)})"
        return tuple(client.query(query).result_rows[0])

    assert since(-10) == ("concurrency", 7, 7, 4)
    assert since(0) == ("concurrency", 6, 6, 4)
    assert since(0.001) == ("concurrency", 6, 4, 4)
    assert since(9.999) == ("concurrency", 6, 4, 4)
    assert since(10) == ("concurrency", 4, 4, 4)
