"""Panels of bad, late, cut and repeated input: every counter, by job and cause."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.parts import FULL, TENS, lines, rows, set_to, with_units

# Meanings of the values of ingest_counts.outcome. The panel shows a cause without an entry here without its meaning.
MEANINGS = {
    "accepted": "counted",
    "accepted_late": "counted; arrived after the time within which counts are exact",
    "accepted_cut": "counted; too long: concurrency lacks its oldest part",
    "accepted_more": "counted under (more): too many names",
    "repeated_message": "left out: its message is a repeat, byte for byte",
    "duplicate_span": "left out of its trace: a repeated span id",
    "trace_too_large": "left out of its trace: the trace has too many spans",
    "too_many_traces": "in no trace: its message has too many trace ids",
    "malformed_message": "dead letter: the job could not decode the message",
    "too_large": "dead letter: larger than a message; the collector left out only this span",
    "missing_service": "dead letter: no service.name",
    "bad_id": "dead letter: a trace or span id of wrong length, or of zeros",
    "clock_out_of_range": "dead letter: too old, or too far ahead of its arrival",
    "ends_before_start": "dead letter: it ends before it starts",
    "missing_identity": "dead letter: a metric of no host and no container",
    "value_out_of_range": "dead letter: a metric whose value does not fit its column",
}


def panels() -> list[Builder[Panel]]:
    return [causes(), lost(), messages(), services(), traces(), outcomes()]


def _rate(column: str, condition: str) -> str:
    return f"""
        SELECT
            toStartOfInterval(received, toIntervalSecond{TENS}) AS time,
            job,
            outcome,
            sum({column}) / {TENS} AS per_s
        FROM sluice.ingest_counts FINAL
        WHERE $__timeFilter(received) AND {condition}
        GROUP BY time, job, outcome
        ORDER BY time
    """


def causes() -> timeseries.Panel:
    return lines(
        "Bad, late, cut and repeated spans, by job and cause",
        "Per second of Kafka record time: cut, late, repeated and refused spans. The table below explains each cause.",
        time_series(_rate("spans", "outcome != 'accepted'")),
        unit="cps",
    ).display_name("${__field.labels.job} ${__field.labels.outcome}")


def lost() -> timeseries.Panel:
    sql = f"""
        SELECT
            toStartOfInterval(received, toIntervalSecond{TENS}) AS time,
            job,
            sumIf(c.spans, NOT startsWith(outcome, 'accepted') AND outcome != 'repeated_message') / sum(c.spans) AS lost
        FROM sluice.ingest_counts AS c FINAL
        WHERE $__timeFilter(received)
        GROUP BY time, job
        HAVING sum(c.spans) > 0
        ORDER BY time
    """
    return lines(
        "Share of spans lost",
        "Of the spans that a job read: spans that it neither counted nor had counted before. Without the spans of "
        "messages that it could not decode.",
        time_series(sql),
        unit="percentunit",
    ).display_name("${__field.labels.job}")


def messages() -> timeseries.Panel:
    return lines(
        "Messages that a job could not decode",
        "Per second of Kafka record time. The number of their spans is unknown; otlp_dead_letter has the messages.",
        time_series(_rate("messages", "messages != 0")),
        unit="cps",
    ).display_name("${__field.labels.job} ${__field.labels.outcome}")


def traces() -> timeseries.Panel:
    sql = f"""
        SELECT
            toStartOfInterval(received, toIntervalSecond{TENS}) AS time,
            cause,
            sum(spans) / {TENS} AS per_s
        FROM sluice.trace_counts FINAL
        WHERE $__timeFilter(received) AND cause != 'closed_quiet'
        GROUP BY time, cause
        ORDER BY time
    """
    return (
        lines(
            "Spans of incomplete traces, by cause",
            "Per second of Kafka record time: of late and incomplete traces, and spans that can be on no critical path "
            "(outside their parent, asynchronous, in a ring, repeated).",
            time_series(sql),
            unit="cps",
        )
        .display_name("${__field.labels.cause}")
        .span(FULL)
    )


def services() -> table_panel.Panel:
    sql = """
        SELECT job, outcome AS reason, service, sum(spans) AS spans, sum(messages) AS messages, max(received) AS newest
        FROM sluice.ingest_counts FINAL
        WHERE $__timeFilter(received) AND outcome != 'accepted'
        GROUP BY job, reason, service
        ORDER BY spans DESC, messages DESC
        LIMIT 200
    """
    return rows(
        "Causes by service", "Causes by service, if it is known; otlp_dead_letter has the refused records.", table(sql)
    ).override_by_name("reason", [set_to("custom.minWidth", 160)])


def outcomes() -> table_panel.Panel:
    names = ", ".join(f"'{name}'" for name in MEANINGS)
    meanings = ", ".join(f"'{meaning}'" for meaning in MEANINGS.values())
    sql = f"""
        SELECT
            job,
            outcome AS cause,
            transform(outcome, [{names}], [{meanings}], '') AS meaning,
            sum(c.spans) AS spans,
            sum(c.messages) AS messages,
            spans / nullIf(sum(sum(c.spans)) OVER (PARTITION BY job), 0) AS share,
            max(received) AS newest
        FROM sluice.ingest_counts AS c FINAL
        WHERE $__timeFilter(received)
        GROUP BY job, cause
        ORDER BY job, spans DESC, messages DESC
    """
    panel = rows("Outcome of every span", "The sum of a job's causes is the number of spans on the topic.", table(sql))
    return with_units(panel.span(FULL), share="percentunit")
