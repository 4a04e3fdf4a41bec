"""Spans between collector and topic: whether all accepted ones arrive, and which are too large for a message."""

import time
from dataclasses import dataclass

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError, limited
from sluice.cli.doctor.probe import get_metrics
from sluice.cli.doctor.prometheus import sums
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import seconds

_POLL_S = 0.2
_SHOWN = 5


@dataclass(frozen=True)
class Counters:
    """The collector's counters since its start. queue: bytes that wait. uptime_s: since its start, by its clock."""

    accepted: int
    sent: int
    failed: int
    queue: int
    uptime_s: float


@dataclass(frozen=True)
class OnTopic:
    """Spans since the collector's start, by the view v_spans_on_topic."""

    at_least: int
    at_most: int


def large(where: Addresses, timeout_s: float) -> Diagnosis:
    rows = ask(
        where,
        timeout_s,
        "SELECT service, max(s) AS most FROM (SELECT job, service, sum(spans) AS s FROM ingest_counts FINAL "
        "WHERE outcome = 'too_large' AND received >= now() - INTERVAL 1 HOUR GROUP BY job, service) "
        "GROUP BY service HAVING most > 0 ORDER BY most DESC, service",
    )
    return judge_large([(str(service), int(spans)) for service, spans in rows])


def judge_large(rows: list[tuple[str, int]]) -> Diagnosis:
    """rows: service, spans of the last hour that fit no message; most first."""
    if not rows:
        return Diagnosis("ok", "every span of the last hour fitted a message")
    parts = limited([f"{service or '(no service.name)'}: {spans:,}" for service, spans in rows], _SHOWN, "services")
    return Diagnosis(
        "warn",
        f"spans of the last hour that were too large for a message, and so not counted: {', '.join(parts)}",
        "limit the size of these services' spans: set OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=4096 in their environment, and "
        "OTEL_SPAN_EVENT_COUNT_LIMIT; otlp_dead_letter has each span's ids and size",
    )


def on_topic(where: Addresses, timeout_s: float) -> Diagnosis:
    return compare(where, timeout_s, patience_s=timeout_s / 2)


def compare(where: Addresses, timeout_s: float, patience_s: float) -> Diagnosis:
    """Polls until all spans accepted at its start are on the topic and counted, or until `patience_s` is over."""
    end = time.monotonic() + patience_s
    first = _counters(where, timeout_s)
    since_ms = round((time.time() - first.uptime_s) * 1000)
    while True:
        on_topic = _on_topic(where, timeout_s, since_ms)
        last = _counters(where, timeout_s)
        if last.uptime_s < first.uptime_s:
            raise NotAnsweringError("the collector restarted during the check")
        done = first.accepted <= last.sent + last.failed and first.sent <= on_topic.at_most
        if done or time.monotonic() >= end:
            return judge_on_topic(first, last, on_topic)
        time.sleep(_POLL_S)


def judge_on_topic(first: Counters, last: Counters, on_topic: OnTopic) -> Diagnosis:
    """first, last: counters before and after `on_topic`. Spans accepted by `first` should be sent by `last`; spans sent
    by `first` should be in `on_topic`. So ongoing load makes no difference."""
    if last.uptime_s < 0:
        return Diagnosis(
            "unknown",
            f"the collector says that it started {seconds(-last.uptime_s)} from now: its clock was set back since",
            "set the clock of the collector's host right, then restart the collector; it counts spans since its start",
        )
    counted = (
        f"{on_topic.at_most:,}"
        if on_topic.at_most == on_topic.at_least
        else f"{on_topic.at_least:,} to {on_topic.at_most:,}"
    )
    text = (
        f"spans in the {seconds(last.uptime_s)} since the collector's start: {last.accepted:,} accepted, "
        f"{last.sent:,} sent, {counted} counted on the topic"
    )
    # The collector sends spans of its restored queue without accepting them; they can hide as many lost ones.
    stuck = first.accepted - last.sent - last.failed
    if stuck > 0 and last.queue == 0:
        return Diagnosis(
            "fail",
            f"{text}; the collector accepted {stuck:,} that it neither sent nor has in its queue: lost",
            "read the collector's log for dropped spans; is `span_limit` in its pipeline, before the exporter?",
        )
    behind = first.sent - on_topic.at_most
    if behind > 0:
        return Diagnosis(
            "warn",
            f"{text}; {behind:,} sent spans are not counted yet",
            "the streaming job is behind (see kafka, lag, and flink); if it is not, they are missing: "
            "`./sluice sql --recipe accepted_and_on_topic` shows since when",
        )
    if stuck > 0:
        text += f"; {stuck:,} wait in the queue"
    return Diagnosis("ok", text)


def parse(text: str) -> Counters:
    """Counters from Prometheus text. Raises NotAnsweringError when the text is not a collector's."""
    metrics = sums(text)
    uptime = metrics.get("otelcol_process_uptime", metrics.get("otelcol_process_uptime_seconds"))
    queue = metrics.get("otelcol_exporter_queue_size")
    if uptime is None or queue is None:
        raise NotAnsweringError("the collector's metrics have no otelcol_process_uptime or otelcol_exporter_queue_size")

    def spans(name: str) -> int:
        return int(metrics.get(f"otelcol_{name}_spans", 0))

    return Counters(
        spans("receiver_accepted"), spans("exporter_sent"), spans("exporter_send_failed"), int(queue), uptime
    )


def _counters(where: Addresses, timeout_s: float) -> Counters:
    return parse(get_metrics(where.collector_metrics, timeout_s))


def _on_topic(where: Addresses, timeout_s: float, since_ms: int) -> OnTopic:
    rows = ask(where, timeout_s, f"SELECT at_least, at_most FROM v_spans_on_topic(since_ms = {since_ms})")
    return OnTopic(*(int(row) for row in rows[0])) if rows else OnTopic(0, 0)
