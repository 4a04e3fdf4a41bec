"""How far each stage of the flow is behind, asked from the stage itself; where it does not tell: why."""

import json
import re
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stack.flink import Flink
from stack.http import UnreachableError, request, request_json
from stack.layout import LOCAL, SLUICE_PYTHON
from stack.settings import Settings

Rows = list[tuple[str, str]]
ERROR = "ERROR: "  # begins the text of a stage that somebody has to see to
CHECKPOINT_PERIODS = 3
FIRST_CHECKPOINT_S = 60.0  # a job that starts is given time
MIB = 1 << 20
MISSED = """SELECT concat(topic, '/', toString(partition)) AS at, sum(first_read - first_missing)
    FROM sluice.offset_gaps FINAL WHERE written >= now() - INTERVAL 1 DAY GROUP BY at ORDER BY at"""
RATE_S = 60.0  # a topic that is younger has no rate yet


def stages(settings: Settings) -> Rows:
    """(stage, how far behind) from the collector to the recommendation."""
    probes: tuple[tuple[str, Callable[[Settings], Rows]], ...] = (
        ("collector queue", collector),
        ("spans on the topic", on_topic),
        ("Kafka", kafka),
        ("streaming job", flink),
        ("ClickHouse", clickhouse),
    )
    rows: Rows = []
    for stage, probe in probes:
        try:
            rows += probe(settings)
        except (UnreachableError, KeyError, ValueError, OSError, subprocess.SubprocessError) as error:
            rows.append((stage, f"unknown: {error}"))
    return rows


def collector(settings: Settings) -> Rows:
    text = collector_metrics(settings)
    size = metric(text, "otelcol_exporter_queue_size")
    refused = metric(text, "otelcol_receiver_refused_spans", "otelcol_receiver_refused_spans_total")
    queue = "unknown: no otelcol_exporter_queue_size" if size is None else f"{size:,.0f} bytes wait for Kafka"
    return [("collector queue", queue if refused is None else f"{queue}; {refused:,.0f} spans refused since its start")]


def collector_metrics(settings: Settings) -> str:
    return request(f"http://{settings.address('collector_metrics')}/metrics").decode()


def on_topic(settings: Settings) -> Rows:
    """Spans since the collector's start: by its own counters, and as the jobs count them on the topic."""
    text = collector_metrics(settings)
    uptime_s = metric(text, "otelcol_process_uptime_seconds_total", "otelcol_process_uptime")
    if uptime_s is None:
        raise ValueError("no otelcol_process_uptime")
    since_ms = round((time.time() - uptime_s) * 1000)
    counted = query(settings, f"SELECT at_least, at_most FROM sluice.v_spans_on_topic(since_ms = {since_ms})")
    at_least, at_most = (int(each) for each in counted[0]) if counted else (0, 0)
    return [("spans on the topic", on_topic_text(text, at_least, at_most))]


def on_topic_text(metrics: str, at_least: int, at_most: int) -> str:
    # A counter of the collector's is there from its first span on: without it none has come.
    accepted = metric(metrics, "otelcol_receiver_accepted_spans", "otelcol_receiver_accepted_spans_total") or 0
    sent = metric(metrics, "otelcol_exporter_sent_spans", "otelcol_exporter_sent_spans_total") or 0
    found = f"{at_most:,}" if at_least == at_most else f"{at_least:,} to {at_most:,}"
    return f"{found} counted since the collector's start; {accepted:,.0f} accepted, {sent:,.0f} sent"


def metric(text: str, *names: str) -> float | None:
    """The sum over all series called one of `names` in the Prometheus text format; None when there is none."""
    found = [
        float(match.group(2))
        for line in text.splitlines()
        if (match := re.match(r"(\w+)(?:\{.*\})?\s+(\S+)", line)) and match.group(1) in names
    ]
    return sum(found) if found else None


def kafka(settings: Settings) -> Rows:
    words = [str(SLUICE_PYTHON), str(LOCAL / "kafka/offsets.py"), "--bootstrap", settings.address("kafka")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["offsets.py failed"])[-1])
    now_s = time.time()
    return [
        (f"topic {topic['topic']}", topic_text(topic, log_bytes(settings, topic["topic"]), now_s))
        for topic in json.loads(done.stdout)
    ]


def log_bytes(settings: Settings, topic: str) -> dict[str, int]:
    """What each partition takes on the broker's disk: the number of the partition, as text, to bytes."""
    return {
        directory.name.rpartition("-")[2]: sum(log.stat().st_size for log in directory.glob("*.log"))
        for directory in (settings.data / "kafka").glob(f"{topic}-*")
    }


def topic_text(topic: Mapping[str, Any], held: Mapping[str, int], now_s: float) -> str:
    """What a topic (of kafka/offsets.py) holds in `held` bytes (log_bytes), and how far its readers are behind."""
    ages_s = {number: now_s - ms / 1000 for number, ms in topic["oldest_ms"].items() if ms is not None}
    text = f"{topic['records']:,} records, {sum(held.values()) / MIB:,.1f} MiB"
    if ages_s:
        text += f", the oldest {ago(max(ages_s.values()))} old"
    if (full_s := full_after_s(topic["retention_bytes"], held, ages_s)) is not None:
        if 0 <= topic["retention_ms"] <= full_s * 1000:
            text += f"; kept {ago(topic['retention_ms'] / 1000)}"
        else:
            limit = f"{topic['retention_bytes'] / MIB:,.0f} MiB a partition"
            text += f"; kept {ago(full_s)} at this rate: {limit} are full before {ago(topic['retention_ms'] / 1000)}"
    lags = [f"{group} is {lag:,} behind its last checkpoint" for group, lag in sorted(topic["groups"].items())]
    missed = [
        f"{records:,} records were deleted before {group} read them"
        for group, records in sorted(topic["missed"].items())
        if records
    ]
    return f"{text}; " + ("; ".join(lags + missed) or "unknown: no consumer has committed an offset")


def full_after_s(limit: int, held: Mapping[str, int], ages_s: Mapping[str, float]) -> float | None:
    """After how long the first partition has `limit` bytes, at the rate since its oldest record.

    None where no limit is set, or nothing has come for long enough to tell a rate.
    """
    times = [limit * age_s / held[number] for number, age_s in ages_s.items() if age_s >= RATE_S and held.get(number)]
    return min(times) if times and limit >= 0 else None


def flink(settings: Settings) -> Rows:
    cluster = Flink(settings)
    job = cluster.running()
    if not job:
        return [("streaming job", "not running")]
    facts = cluster.checkpoints(job.id)
    troubles = cluster.troubles(job.id)
    text = checkpoints_text(facts, cluster.checkpoint_interval_s(job.id), cluster.age_s(job.id), time.time(), troubles)
    return [
        ("streaming job", text if text.startswith(ERROR) else f"{job.state}; {text}"),
        *(("sink", trouble) for trouble in troubles),
    ]


def checkpoints_text(
    facts: Mapping[str, Any], interval_s: float, age_s: float, now_s: float, troubles: Sequence[str]
) -> str:
    """facts: as Flink's REST has them; age_s: of the job. An ERROR when none was completed for CHECKPOINT_PERIODS."""
    last = (facts.get("latest") or {}).get("completed")
    failed = f"{facts.get('counts', {}).get('failed', 'unknown')} failed"
    if last:
        since_s = now_s - last["latest_ack_timestamp"] / 1000
        text = f"last checkpoint {ago(since_s)} ago, took {last['end_to_end_duration']} ms; {failed}"
        late = since_s > CHECKPOINT_PERIODS * interval_s
    else:
        text = f"no checkpoint yet; {failed}"
        late = age_s > max(CHECKPOINT_PERIODS * interval_s, FIRST_CHECKPOINT_S)
    if not late:
        return text
    held_by = "see the sinks below" if troubles else "`./sluice doctor` says what they wait for"
    return f"{ERROR}checkpoints do not complete, {held_by}; {text}"


def clickhouse(settings: Settings) -> Rows:
    rows = lag_rows(query(settings, "SELECT stage, lag_ms FROM sluice.v_stage_lag"))
    return [*rows, ("records missed", missed_text(query(settings, MISSED)))]


def query(settings: Settings, statement: str) -> list[Any]:
    words = {"query": f"{statement} FORMAT JSONCompact", "user": "sluice_reader"}
    url = f"http://{settings.address('clickhouse_http')}/?{urllib.parse.urlencode(words)}"
    return list(request_json(url, timeout_s=15.0)["data"])


def missed_text(data: Iterable[tuple[str, int]]) -> str:
    """Records that were deleted before they were read, by topic and partition."""
    parts = [f"{int(records):,} of {partition}" for partition, records in data]
    return f"{', '.join(parts)}: deleted before they were read" if parts else "none in the last day"


def lag_rows(data: Iterable[tuple[str, float | None]]) -> Rows:
    return [
        (stage, "unknown: nothing in the last minute" if lag_ms is None else ago(lag_ms / 1000))
        for stage, lag_ms in data
    ]


def ago(seconds: float) -> str:
    """A duration for people: 0.35 s, 12.0 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
