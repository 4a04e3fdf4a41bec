"""The doctor's checks of ClickHouse, on the real engine."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from migrate.__main__ import schema_up
from sluice.cli.doctor import clickhouse as check
from sluice.cli.doctor import left_out, owners, rejected, spans
from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.doctor.pool_spans import PoolSpans, pool_spans
from sluice.cli.environment import Addresses, addresses
from sluice.model.keys import PoolKey
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse

from .http_server import FixedServer

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture
def where(engine: ClickHouse) -> Iterator[Addresses]:
    schema_up(engine.writer_url, "sluice", wait_s=10)
    yield addresses({"SLUICE_CLICKHOUSE": engine.url})
    engine.client().command("DROP DATABASE IF EXISTS sluice")


def test_an_empty_database_with_the_schema(where: Addresses) -> None:
    assert check.reachable(where, 5).level == "ok"
    assert check.migrations(where, 5).level == "ok"
    fresh = check.freshness(where, 5)
    assert (fresh.level, fresh.text) == ("warn", "no window within the last day")
    assert check.dead_letters(where, 5).level == "ok"
    assert rejected.rejected_rows(where, 5).level == "ok"
    assert owners.owners(where, 5).level == "ok"


def test_no_schema(engine: ClickHouse) -> None:
    where = addresses({"SLUICE_CLICKHOUSE": engine.url})
    diagnosis = check.migrations(where, 5)
    assert (diagnosis.level, diagnosis.text) == ("fail", "no migration has been applied")
    assert "make up" in diagnosis.remedy
    with pytest.raises(NotAnsweringError):
        check.freshness(where, 5)


def test_a_migration_that_is_not_recorded(where: Addresses, engine: ClickHouse) -> None:
    engine.client("sluice").command(
        "ALTER TABLE schema_migrations DELETE WHERE version = 0 SETTINGS mutations_sync = 1"
    )
    diagnosis = check.migrations(where, 5)
    assert (diagnosis.level, diagnosis.text) == ("fail", "not applied: tables")


class _Nothing(dict[str, str]):
    """The answer to every query: nothing."""

    def get(self, key: str, default: object = None) -> str:  # type: ignore[override]
        return ""


def test_an_answer_without_a_byte_is_unknown_and_not_no_rows() -> None:
    """A ClickHouse whose disk is full says HTTP 200 and nothing: the doctor said that no migration was applied."""
    with FixedServer(_Nothing()) as server:
        where = addresses({"SLUICE_CLICKHOUSE": server.url})
        for one in (check.migrations, check.freshness, check.missed_records):
            with pytest.raises(NotAnsweringError, match="answered a query with nothing"):
                one(where, 5)


def test_the_newest_window_and_dead_letters_by_reason(where: Addresses, engine: ClickHouse) -> None:
    client = engine.client("sluice")
    client.command(
        "INSERT INTO windows (side, service, peer, instance, bucket, bucket_ms, version) "
        "VALUES ('server', 's', '', 'i', now64(3) - 5, 100, 1), ('server', 's', '', 'i', now64(3) - 500, 100, 1)"
    )
    client.command(
        "INSERT INTO ingest_counts (job, outcome, service, received, messages, spans, emit_lag_ms, version) VALUES "
        "('a', 'accepted', '', now(), 0, 100, 0, 1), ('a', 'accepted_cut', '', now(), 0, 7, 0, 1), "
        "('a', 'accepted_more', '(more)', now(), 0, 1200, 0, 1), ('b', 'accepted_more', '(more)', now(), 0, 9, 0, 1), "
        "('a', 'accepted_late', '', now(), 0, 7, 0, 1), ('a', 'repeated_message', '', now(), 0, 7, 0, 1), "
        # A later version of the same row replaces it; another job read the same spans.
        "('a', 'no_service', '', now(), 0, 2, 0, 2), ('a', 'no_service', '', now(), 0, 3, 0, 3), "
        "('b', 'no_service', '', now(), 0, 3, 0, 3), "
        "('a', 'undecodable', '', now(), 1, 0, 0, 1), "
        "('a', 'old', '', now() - 3600, 0, 9, 0, 1)"
    )
    fresh = check.freshness(where, 5)
    assert fresh.level == "ok"
    more = check.names(where, 5)
    assert (more.level, more.text[:12]) == ("warn", "1,200 spans ")
    assert check.judge_names(0).level == "ok"
    assert re.fullmatch(r"newest window \d+ s old", fresh.text)
    dead = check.dead_letters(where, 5)
    assert dead.level == "warn"
    assert dead.text == ("dead letters in the last 10 minutes: no_service: 3 spans; undecodable: 0 spans, 1 messages")


def test_spans_on_the_topic_and_those_too_large_for_it(where: Addresses, engine: ClickHouse) -> None:
    assert spans.large(where, 20).level == "ok"
    engine.client("sluice").command(
        "INSERT INTO ingest_counts (job, outcome, service, received, messages, spans, emit_lag_ms, version) VALUES "
        "('a', 'accepted', 'cart', now(), 0, 90, 0, 1), ('a', 'too_large', 'cart', now(), 0, 10, 0, 1), "
        "('b', 'too_large', 'cart', now(), 0, 9, 0, 1), ('a', 'too_large', 'old', now() - 4000, 0, 9, 0, 1)"
    )
    diagnosis = spans.large(where, 20)
    assert (diagnosis.level, diagnosis.text.endswith("cart: 10")) == ("warn", True)

    metrics = "otelcol_process_uptime_seconds_total 60.5\notelcol_exporter_queue_size 0\n"
    metrics += "otelcol_receiver_accepted_spans_total 100\notelcol_exporter_sent_spans_total "
    for sent, level in (("100", "ok"), ("101", "warn"), ("99", "fail")):
        with FixedServer({"/metrics": metrics + sent}) as collector:
            at = replace(where, collector_metrics=collector.address)
            assert spans.compare(at, 20, patience_s=0).level == level
    # A process that started a moment ago sees the counts of the 10 s in which it did.
    with FixedServer({"/metrics": metrics.replace("60.5", "0.1") + "100"}) as collector:
        at = replace(where, collector_metrics=collector.address)
        assert "100 counted" in spans.compare(at, 20, patience_s=0).text


def test_rejected_rows_are_counted_by_key_and_named_with_the_answer(where: Addresses, engine: ClickHouse) -> None:
    engine.client("sluice").command(
        "INSERT INTO rejected_rows (store, table, reason, key, detail) VALUES "
        # Refused again, as after a restart, it is the same row.
        "('clickhouse', 'windows', 'refused', 'server|a', 'Constraint `c`'), "
        "('clickhouse', 'windows', 'refused', 'server|a', 'Constraint `c`'), "
        "('clickhouse', 'windows', 'refused', 'server|b', 'Constraint `c`'), "
        "('neo4j', 'seen', 'too_large', 'c', 'memory')"
    )
    engine.client("sluice").command(
        "INSERT INTO rejected_rows (store, table, reason, key, rows, at) VALUES "
        "('clickhouse', 'windows', 'column_missing', 'errors', 1200, now64(3)), "
        "('clickhouse', 'windows', 'refused', 'old', 1, now64(3) - 3600)"
    )
    diagnosis = rejected.rejected_rows(where, 5)
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "in the last 10 minutes: clickhouse windows: 1,200 rows written without column errors; "
        "clickhouse windows: 2 rows refused (Constraint `c`); neo4j seen: 1 rows too_large (memory)"
    )
    assert "add the column again" in diagnosis.remedy
    assert "--recipe rejected_rows" in diagnosis.remedy


def test_records_that_were_deleted_unread(where: Addresses, engine: ClickHouse) -> None:
    assert check.missed_records(where, 5).level == "ok"
    engine.client("sluice").command(
        "INSERT INTO offset_gaps (flink_job, topic, partition, first_missing, first_read, received, version, written) "
        "VALUES ('j', 'otlp_spans', 1, 100, 1600, now(), 1600, now64(3)), "
        "('j', 'otlp_spans', 1, 100, 1600, now(), 1600, now64(3)), "  # told again after a failure
        "('j', 'otlp_spans', 1, 2000, 2007, now(), 2007, now64(3)), "
        "('j', 'otlp_metrics', 0, 5, 6, now(), 6, now() - INTERVAL 25 HOUR)"
    )
    diagnosis = check.missed_records(where, 5)
    assert diagnosis.level == "warn"
    assert "1,507 of otlp_spans/1, last seen " in diagnosis.text
    assert "missed_records" in diagnosis.remedy


def test_spans_that_rules_leave_out_are_named_by_operation_with_their_share(
    where: Addresses, engine: ClickHouse
) -> None:
    """Of 400 SERVER spans 100 are probes, and 100 nested, of which no rule says anything."""
    assert left_out.left_out(where, 5).text == "no rule of spans.toml left a span out in the last 10 minutes"
    client = engine.client("sluice")
    client.command(
        "INSERT INTO spans_left_out (side, service, peer, operation, action, rule, window, window_s, spans, version) "
        "SELECT 'server', 'cart', '', operation, action, rule, now() - 300, 10, 100, 1 FROM values("
        "'operation String, action String, rule String', ('GET /healthz', 'leave_out', 'probe-path'), "
        "('GET /cart', 'nested', 'nested'))"
    )
    client.command(
        "INSERT INTO windows_10s (side, service, peer, instance, start, bucket_ms, busy_ns, completions, version) "
        "VALUES ('server', 'cart', '', 'cart-0', now() - 300, 100, 1, 200, 200)"
    )
    diagnosis = left_out.left_out(where, 5)
    assert (diagnosis.level, diagnosis.text.endswith("of cart (server) GET /healthz 25% (probe-path)")) == ("ok", True)


def test_a_pools_spans_by_instance_and_name(where: Addresses, engine: ClickHouse) -> None:
    pools = [PoolKey("cart", "server", ""), PoolKey("cart", "client", "cart-db")]
    client = engine.client("sluice")
    client.command(
        "INSERT INTO windows_10s (side, service, peer, instance, start, bucket_ms, busy_ns, completions, version) "
        "VALUES ('server', 'cart', '', 'cart-0', now() - 60, 100, 800e9, 1, 1), "
        "('server', 'cart', '', 'cart-0', now() - 80, 100, 500e9, 1, 1), "
        "('server', 'cart', '', 'cart-1', now() - 60, 100, 290e9, 1, 1), "
        "('client', 'cart', 'cart-db', 'cart-0', now() - 60, 100, 30e9, 1, 1), "
        "('server', 'shop', '', 'shop-0', now() - 60, 100, 90e9, 1, 1), "
        "('server', 'cart', '', 'cart-9', now() - 900, 100, 90e9, 1, 1)"
    )
    tree = '{"service":"shop","operation":"GET /","stages":[[{"service":"cart","operation":"read"}]]}'
    client.command(
        "INSERT INTO call_trees (root_service, root_operation, window, window_s, tree, traces, version) "
        f"VALUES ('shop', 'GET /', now() - 60, 10, '{tree}', 7, 7)"
    )
    client.command(
        "INSERT INTO spans_left_out (side, service, peer, operation, action, rule, window, window_s, spans, version) "
        "VALUES ('client', 'cart', 'cart-db', 'pg.connect', 'waiting', 'acquire-node-pg', now() - 60, 10, 50, 1)"
    )
    assert pool_spans(where, 5, pools) == {
        pools[0]: PoolSpans({"cart-0": 80.0, "cart-1": 29.0}, {"read": 7}, {}),
        pools[1]: PoolSpans({"cart-0": 3.0}, {}, {("pg.connect", "acquire-node-pg"): 50}),
    }


def test_a_target_of_two_actuators_is_named_with_both_of_them_once(where: Addresses, engine: ClickHouse) -> None:
    text = '"a@one 127.0.0.1:50061" owns this target, so "b@two 127.0.0.1:50061" is refused'
    refusal = f"TARGET_OWNED: cart/server cart-1: {text}; one actuator owns a target: and so on"
    rows = [
        ("cart-1", "REFUSED", 45, refusal),
        ("cart-1", "APPLIED", 30, f"{refusal}; in force after 3ms"),
        ("cart-2", "REFUSED", 70, refusal),  # of more than a minute ago
        ("cart-3", "REFUSED", 1, "target 200 is outside the target's own limits 2..128"),
    ]
    values = ", ".join(
        f"('cart', 'server', now64(3) - {age_s}, 'threads', 'b', '{outcome}', '{instance}', "
        f"'{age_s}', now64(3) - {age_s}, '{detail.replace(chr(39), chr(92) + chr(39))}')"
        for instance, outcome, age_s, detail in rows
    )
    engine.client("sluice").command(
        "INSERT INTO actuations (service, side, at, target_name, actuator, outcome, instance, request_id, received, "
        f"detail) VALUES {values}"
    )
    diagnosis = owners.owners(where, 5)
    assert (diagnosis.level, diagnosis.text) == ("warn", f"in the last minute: cart/server cart-1: {text}")
    assert "remove it from one of the two configurations" in diagnosis.remedy


def test_of_many_targets_of_two_actuators_the_first_are_named() -> None:
    diagnosis = owners.judge_owners([f"TARGET_OWNED: cart/server cart-{i}: one owns it; mend it" for i in range(9)])
    assert "cart-5: one owns it" in diagnosis.text
    assert diagnosis.text.endswith("; 3 more targets")
