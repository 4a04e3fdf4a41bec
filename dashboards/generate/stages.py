"""Panels of the flow: throughput and lag of each stage."""

from grafana_foundation_sdk.builders import bargauge, common, stat, timeseries
from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import StackingMode
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import DATASOURCE, table, time_series
from generate.levels import STEP, TIME, newest, windows
from generate.parts import FULL, HALF, HEIGHT, STALE_S, TENS, lines, rows, set_to, steps, with_units

# Yellow and red, ms. `./sluice doctor` warns of the newest window from red on.
LATE_MS = ((10_000, "yellow"), (30_000, "red"))
OLD_MS = ((500 * STALE_S, "yellow"), (1_000 * STALE_S, "red"))


def panels() -> list[Builder[Panel]]:
    return [freshness(), lag_now(), outcomes(), stored(), lag(), rollups(), balance()]


def freshness() -> stat.Panel:
    sql = """
        SELECT
            anyIf(lag_ms, stage = 'newest window') AS "newest window",
            anyIf(lag_ms, stage = 'recommendation') AS "newest recommendation"
        FROM sluice.v_stage_lag
    """
    return (
        stat.Panel()
        .title("Freshness")
        .description(
            "Age of the newest window and of the newest decision. Empty: there is none. A window is red from 30 s on, "
            "when `./sluice doctor` warns. A decision has a row for each change, and one a minute: red from "
            f"{STALE_S} s on."
        )
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .unit("ms")
        .no_value("none")
        .thresholds(steps(*LATE_MS))
        .override_by_name("newest recommendation", [set_to("thresholds", steps(*OLD_MS).build().to_json())])
        .with_target(table(sql))
    )


def lag_now() -> bargauge.Panel:
    sql = "SELECT stage, lag_ms FROM sluice.v_stage_lag WHERE stage != 'recommendation'"
    return (
        bargauge.Panel()
        .title("Lag of each stage, now")
        .description("Means of the last minute; the view sluice.v_stage_lag defines them.")
        .datasource(DATASOURCE)
        .span(HALF)
        .height(HEIGHT)
        .unit("ms")
        .no_value("none")
        .thresholds(steps(*LATE_MS))
        .min(0)
        # One bar a row: without `values` Grafana draws a single bar.
        .reduce_options(common.ReduceDataOptions().values(True).calcs(["lastNotNull"]))
        .with_target(table(sql))
    )


def outcomes() -> timeseries.Panel:
    sql = f"""
        SELECT
            toStartOfInterval(received, toIntervalSecond{TENS}) AS time,
            job,
            outcome,
            sum(spans) / {TENS} AS spans_per_s
        FROM sluice.ingest_counts FINAL
        WHERE $__timeFilter(received)
        GROUP BY time, job, outcome
        ORDER BY time
    """
    return (
        lines(
            "Spans read, by job and outcome",
            "Per second of Kafka record time: accepted, or the reason of the dead letter.",
            time_series(sql),
            unit="cps",
        )
        .display_name("${__field.labels.job} ${__field.labels.outcome}")
        .stacking(common.StackingConfig().mode(StackingMode.NONE))
    )


def stored() -> timeseries.Panel:
    ended = f"""
        SELECT {TIME} AS time, sum(completions) / {STEP} AS "completions in windows"
        FROM {windows("completions", "true")}
        GROUP BY time
        ORDER BY time
    """
    calls = f"""
        SELECT toStartOfInterval(window, toIntervalSecond{TENS}) AS time, sum(calls) / {TENS} AS "calls in edges"
        FROM sluice.call_edges FINAL
        WHERE $__timeFilter(window)
        GROUP BY time
        ORDER BY time
    """
    decisions = """
        SELECT $__timeInterval(at) AS time, count() / $__interval_s AS recommendations
        FROM sluice.recommendations FINAL
        WHERE $__timeFilter_ms(at)
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "Stored, by stage",
        "Per second of the data's own time: ended spans in windows, calls in the call graph's edges, recorded "
        "decisions: each change, and one a minute.",
        time_series(ended, "A"),
        time_series(calls, "B"),
        time_series(decisions, "C"),
        unit="cps",
    )


def lag() -> timeseries.Panel:
    emitted = f"""
        SELECT
            toStartOfInterval(received, toIntervalSecond{TENS}) AS time,
            sum(emit_lag_ms) / sum(spans) AS "span end to kafka"
        FROM sluice.ingest_counts FINAL
        WHERE $__timeFilter(received) AND startsWith(outcome, 'accepted')
        GROUP BY time
        HAVING sum(spans) > 0
        ORDER BY time
    """
    written = """
        SELECT
            $__timeInterval(start) AS time,
            quantile(0.5)(toUnixTimestamp64Milli(seen) - 1000 * toUnixTimestamp(start) - 1000)
                AS "window end to clickhouse"
        FROM sluice.windows_1s FINAL
        WHERE $__timeFilter(start) AND start >= $__toTime - INTERVAL 3 HOUR
        GROUP BY time
        ORDER BY time
    """
    decided = """
        SELECT
            $__timeInterval(at) AS time,
            avg(toUnixTimestamp64Milli(at) - toUnixTimestamp64Milli(newest_bucket)) AS "data of the recommendation"
        FROM sluice.recommendations
        WHERE $__timeFilter_ms(at) AND newest_bucket IS NOT NULL
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "Lag of each stage",
        "From a span's end to its record on the topic (mean); from a second's end to its windows' last upsert (median, "
        "with the duration of the spans in it; the newest 3 h); from the newest window behind a decision to the "
        "decision (mean).",
        time_series(emitted, "A"),
        time_series(written, "B"),
        time_series(decided, "C"),
        unit="ms",
    )


def rollups() -> table_panel.Panel:
    sql = """
        SELECT view AS rollup, status, last_success_time AS succeeded, last_success_duration_ms AS took_ms, exception
        FROM system.view_refreshes
        WHERE database = 'sluice'
        ORDER BY rollup
    """
    panel = rows("Rollups", "Time of each rollup's last refresh, and its error.", table(sql))
    return with_units(panel, took_ms="ms")


def balance() -> timeseries.Panel:
    sql = f"""
        SELECT minute AS time, accepted, refused, failed, on_topic AS "on the topic", missing
        FROM sluice.v_span_balance_between({newest(24 * 60)})
        ORDER BY time
    """
    return lines(
        "Spans accepted, and on the topic, a minute",
        "By the collectors' own counters, and by the jobs', in the newest day of the time range. `missing` is a sum "
        "from the first minute on: without traffic it returns to 0 or below, unless spans were lost. The view "
        "v_span_balance_between lists exceptions.",
        time_series(sql),
    ).span(FULL)
