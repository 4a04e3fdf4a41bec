"""ClickHouse: whether it answers, its schema is current, its data is fresh, and which records it lacks."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import START, get
from sluice.cli.environment import Addresses
from sluice.cli.output import CliError
from sluice.cli.pools.text import seconds
from sluice.cli.sql.http import reader
from sluice.cli.sql.result import read_rows

_MIGRATIONS = Path(__file__).resolve().parents[6] / "storage" / "clickhouse" / "migrations"
#: The version that records the first schema.
_FIRST = 0
_MIGRATE = "run `make up`, or `python -m migrate up` in storage/"
_FRESH_S = 30.0


def reachable(where: Addresses, timeout_s: float) -> Diagnosis:
    first = where.clickhouse.split(",")[0]
    try:
        answer = get(f"{first}/ping", timeout_s, os.environ.get("SLUICE_CLICKHOUSE_CA", ""))
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    if answer.text.strip() != "Ok.":
        return Diagnosis("fail", f"{first}/ping answered {answer.text[:80]!r}", "another program listens on its port")
    return Diagnosis("ok", f"answers at {first}")


def migrations(where: Addresses, timeout_s: float) -> Diagnosis:
    later = sorted(_MIGRATIONS.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    known = {_FIRST: "tables"} | {int(path.name[:4]): path.name for path in later}
    try:
        rows = _rows(where, timeout_s, "SELECT version FROM schema_migrations")
    except CliError as error:
        if any(word in str(error) for word in ("UNKNOWN_DATABASE", "UNKNOWN_TABLE")):
            return Diagnosis("fail", "no migration has been applied", _MIGRATE)
        raise NotAnsweringError(str(error)) from None
    return judge_migrations(known, {int(row[0]) for row in rows})


def judge_migrations(known: dict[int, str], applied: set[int]) -> Diagnosis:
    """known: version -> file name."""
    pending = [name for version, name in known.items() if version not in applied]
    if pending:
        return Diagnosis("fail", f"not applied: {', '.join(pending)}", _MIGRATE)
    newer = sorted(applied - known.keys())
    if newer:
        return Diagnosis(
            "warn", f"the database has migrations {newer} that this source tree lacks", "update the source tree"
        )
    return Diagnosis("ok", f"{len(applied)} applied")


def freshness(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(
        where,
        timeout_s,
        "SELECT count(), toUnixTimestamp64Milli(max(bucket)) FROM windows WHERE bucket > now() - INTERVAL 1 DAY",
    )
    count, newest_ms = rows[0]
    return judge_freshness(int(count), int(newest_ms) / 1000, time.time())


def judge_freshness(count: int, newest_s: float, now_s: float) -> Diagnosis:
    """count: windows of the last day. newest_s: start of the newest one, seconds since 1970."""
    if not count:
        remedy = "send spans (the demo, `./sluice replay`, or your application); if you do, see kafka and flink"
        return Diagnosis("warn", "no window within the last day", remedy)
    age_s = now_s - newest_s
    if age_s < 0:
        return Diagnosis("ok", f"newest window {seconds(-age_s)} ahead of this clock (replayed, or a clock is off)")
    text = f"newest window {seconds(age_s)} old"
    if age_s > _FRESH_S:
        return Diagnosis("warn", text, "no spans arrive, or the job is behind: see collector, kafka and flink")
    return Diagnosis("ok", text)


def broken_parts(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(
        where,
        timeout_s,
        "SELECT table, count() FROM system.detached_parts "
        "WHERE database = currentDatabase() AND match(reason, '^(broken|unexpected)') GROUP BY table ORDER BY table",
    )
    return judge_broken_parts([(str(table), int(parts)) for table, parts in rows])


def judge_broken_parts(rows: list[tuple[str, int]]) -> Diagnosis:
    """rows: table and number of parts that ClickHouse set aside, because their files were cut short or are missing."""
    if not rows:
        return Diagnosis("ok", "no part was set aside as broken")
    text = ", ".join(f"{table} {parts}" for table, parts in rows)
    remedy = (
        "of a broken part that a merge had made, the parts before it still have the rows for 8 minutes, and ClickHouse"
        " takes those; else rows are missing: start the job without a snapshot to read again what Kafka has"
        " (docs/jobs-restore.md). Then remove the folders `detached/broken*` of these tables"
    )
    return Diagnosis("warn", f"parts set aside as broken, by table: {text}", remedy)


def dead_letters(where: Addresses, timeout_s: float) -> Diagnosis:
    # Each job reads every span, so the query takes the maximum over jobs, not the sum. Cut and late spans also count
    # as accepted. A repeated span was used the first time.
    rows = ask(
        where,
        timeout_s,
        "SELECT outcome, max(s), max(m) FROM (SELECT job, outcome, sum(spans) AS s, sum(messages) AS m "
        "FROM ingest_counts FINAL WHERE NOT startsWith(outcome, 'accepted') "
        "AND outcome NOT IN ('repeated_message', 'duplicate_span') "
        "AND received >= now() - INTERVAL 10 MINUTE "
        "GROUP BY job, outcome) GROUP BY outcome ORDER BY outcome",
    )
    return judge_dead_letters([(str(outcome), int(spans), int(messages)) for outcome, spans, messages in rows])


def judge_dead_letters(rows: list[tuple[str, int, int]]) -> Diagnosis:
    """rows: reason, spans, and messages that could not be decoded at all."""
    counted = [(reason, spans, messages) for reason, spans, messages in rows if spans or messages]
    if not counted:
        return Diagnosis("ok", "no dead letters in the last 10 minutes")
    parts = [
        f"{reason}: {spans:,} spans" + (f", {messages:,} messages" if messages else "")
        for reason, spans, messages in counted
    ]
    remedy = "read the records of topic otlp_dead_letter: each has the reason, the service and the ids"
    return Diagnosis("warn", f"dead letters in the last 10 minutes: {'; '.join(parts)}", remedy)


def names(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(
        where,
        timeout_s,
        "SELECT max(s) FROM (SELECT job, sum(spans) AS s FROM ingest_counts FINAL "
        "WHERE outcome = 'accepted_more' AND received >= now() - INTERVAL 10 MINUTE GROUP BY job)",
    )
    return judge_names(int(rows[0][0]))


def judge_names(spans: int) -> Diagnosis:
    """spans: spans or points of metrics of the last 10 minutes that count under `(more)`."""
    if not spans:
        return Diagnosis("ok", "every name of the last 10 minutes is counted by itself")
    return Diagnosis(
        "warn",
        f"{spans:,} spans or points of metrics of the last 10 minutes count under (more): there are more services, "
        "instances, hosts, peers, operations or series than the job counts one by one",
        "look for names that contain ids, such as /orders/1234; run.py's --most-... raise the limits",
    )


def missed_records(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(
        where,
        timeout_s,
        "SELECT topic, partition, sum(first_read - first_missing), toUnixTimestamp64Milli(max(written)) "
        "FROM offset_gaps FINAL WHERE written >= now() - INTERVAL 1 DAY GROUP BY topic, partition ORDER BY ALL",
    )
    partitions = [
        (f"{topic}/{partition}", int(records), int(at_ms) / 1000) for topic, partition, records, at_ms in rows
    ]
    return judge_missed_records(partitions, time.time())


def judge_missed_records(rows: list[tuple[str, int, float]], now_s: float) -> Diagnosis:
    """rows: topic/partition, records that were deleted unread, time of the newest such gap in seconds since 1970."""
    if not rows:
        return Diagnosis("ok", "Kafka deleted no record of the last day before a job read it")
    parts = [f"{records:,} of {at}, last seen {seconds(now_s - at_s)} ago" for at, records, at_s in rows]
    return Diagnosis(
        "warn",
        f"Kafka deleted records of the last day before a job read them: {'; '.join(parts)}",
        "their spans are lost. See kafka retention; `./sluice sql --recipe missed_records` lists them",
    )


def ask(where: Addresses, timeout_s: float, query: str, parameters: Mapping[str, str] | None = None) -> list[list[Any]]:
    """As `_rows`, but every error becomes NotAnsweringError: the check then is unknown."""
    try:
        return _rows(where, timeout_s, query, parameters)
    except CliError as error:
        raise NotAnsweringError(str(error)) from None


def _rows(
    where: Addresses, timeout_s: float, query: str, parameters: Mapping[str, str] | None = None
) -> list[list[Any]]:
    server = replace(reader(), url=where.clickhouse.split(",")[0])
    return list(read_rows(query, parameters or {}, server, timeout_s).rows)
