"""Panels of what was not taken as it came: every counter of bad, late, cut and repeated input, by job and cause."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.parts import TENS, WHOLE, lines, rows, set_to, with_units

# What each value of ingest_counts.outcome means. A cause that is not here is shown without its meaning.
MEANINGS = {
    "accepted": "counted",
    "accepted_late": "counted; came later than lateness is promised to be exact for",
    "accepted_cut": "counted; too long to spread in full, its oldest part is missing in concurrency",
    "accepted_more": "counted under (more): there are more names than are told apart",
    "repeated_message": "left out: its message came before, byte for byte",
    "duplicate_span": "left out of its trace: the span id came before",
    "trace_too_large": "left out of its trace: that has more spans than are kept",
    "too_many_traces": "in no trace: its message has more trace ids than are kept",
    "malformed_message": "dead letter: the whole message could not be decoded",
    "too_large": "dead letter: larger than a message can be; the collector left it out, and nothing else",
    "missing_service": "dead letter: no service.name",
    "bad_id": "dead letter: a trace or span id of wrong length, or of zeros",
    "clock_out_of_range": "dead letter: too old, or too far ahead of its arrival",
    "ends_before_start": "dead letter: it ends before it starts",
    "missing_identity": "dead letter: a metric of no host and no container",
    "value_out_of_range": "dead letter: a metric whose value cannot be kept",
}


def panels() -> list[Builder[Panel]]:
    return [causes(), lost(), messages(), services(), traces(), every()]


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
        "Spans not taken as they came, by job and cause",
        "Per second of Kafka record time: cut, late, repeated and refused spans. The table below says what each means.",
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
        "Of the spans that a job read: those neither counted nor known from before. Not among them: the spans of "
        "messages that could not be decoded.",
        time_series(sql),
        unit="percentunit",
    ).display_name("${__field.labels.job}")


def messages() -> timeseries.Panel:
    return lines(
        "Messages that could not be decoded",
        "Per second of Kafka record time. Nobody knows how many spans they held; they stand whole on otlp_dead_letter.",
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
            "Spans of traces that are not whole, by cause",
            "Per second of Kafka record time: of late and incomplete traces, and spans that no critical path can lead "
            "through (outside their parent, asynchronous, in a ring, repeated).",
            time_series(sql),
            unit="cps",
        )
        .display_name("${__field.labels.cause}")
        .span(WHOLE)
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
        "Whose spans", "Causes by service, where it is known; refused records stand on otlp_dead_letter.", table(sql)
    ).override_by_name("reason", [set_to("custom.minWidth", 160)])


def every() -> table_panel.Panel:
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
    panel = rows(
        "What became of every span", "Summed over its causes, a job's spans are those on the topic.", table(sql)
    )
    return with_units(panel.span(WHOLE), share="percentunit")
