"""Panels of critical paths: the services on them, and their traces."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.levels import newest
from generate.parts import FULL, colored, lines, linked, of_service, rows, with_units
from generate.variables import among

# The views add histograms of all paths of their range.
_MINUTES = 60
_NONE = "No trace of these operations was closed in this time range."
_OF_ROOT = among("root_service", "roots")


def panels() -> list[Builder[Panel]]:
    return [now(), blame(), end_to_end(), ways(_OF_ROOT), services()]


def now() -> table_panel.Panel:
    sql = f"""
        SELECT root_service, root_operation, rank, service, critical, share_of_p95, p95_ms, blame_ms, correlation,
               congestion_ratio, traces, arrayStringConcat(reasons, ', ') AS reasons, age_s
        FROM sluice.v_critical_now
        WHERE {_OF_ROOT}
        ORDER BY root_service, root_operation, rank
        LIMIT 500
    """
    panel = rows(
        "Critical services, now",
        "Services by rank for each root operation over the newest minute. `critical`: localization names it as the one "
        "that holds the operation up.",
        table(sql),
        "No ranking in the newest 5 min: no complete traces, or the decider does not run.",
    ).span(FULL)
    panel = with_units(panel, share_of_p95="percentunit", p95_ms="ms", blame_ms="ms", age_s="s")
    return of_service(colored(panel, "critical", {"true": "red"}), "service")


def blame() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(at) AS time,
            concat(root_service, ' ', root_operation, ': ', service) AS path,
            avg(share_of_p95) AS share
        FROM sluice.critical_services
        WHERE $__timeFilter_ms(at) AND {_OF_ROOT} AND rank <= 3 AND share_of_p95 IS NOT NULL
        GROUP BY time, path
        ORDER BY time
    """
    return lines(
        "Share of p95 by service",
        "Part of a root operation's p95 that is the blame of the service: its processing time, and waits that it "
        "causes. Three services of an operation.",
        time_series(sql),
        unit="percentunit",
        empty=_NONE,
    ).display_name("${__field.labels.path}")


def end_to_end() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(at) AS time,
            concat(root_service, ' ', root_operation) AS operation,
            avg(p95_ms) AS p95
        FROM sluice.critical_services
        WHERE $__timeFilter_ms(at) AND {_OF_ROOT} AND rank = 1 AND p95_ms IS NOT NULL
        GROUP BY time, operation
        ORDER BY time
    """
    text = "p95 of the end to end time of each root operation, over a minute, at each ranking."
    return lines("p95 of root operations", text, time_series(sql), unit="ms", empty=_NONE).display_name(
        "${__field.labels.operation}"
    )


def ways(condition: str) -> table_panel.Panel:
    """condition: on the columns of v_critical_path_between."""
    sql = f"""
        SELECT root_service, root_operation, signature AS path, traces, share, p50_ms, p95_ms, p99_ms, slowest_ms,
               slowest_trace_id AS slowest_trace, median_trace_id AS median_trace
        FROM sluice.v_critical_path_between({newest(_MINUTES)})
        WHERE complete AND {condition}
        ORDER BY traces DESC
        LIMIT 200
    """
    panel = rows(
        "Critical paths, with traces",
        "Sequences of services on critical paths, in the newest hour of the time range. A trace id is a link to "
        "`Traces at`, the id, and `After the id`.",
        table(sql),
        _NONE,
    ).span(FULL)
    panel = with_units(panel, share="percentunit", p50_ms="ms", p95_ms="ms", p99_ms="ms", slowest_ms="ms")
    for column in ("slowest_trace", "median_trace"):
        panel = linked(panel, column, "Trace", "${traces:raw}${__value.raw}${traces_end:raw}")
    return panel


def services() -> table_panel.Panel:
    sql = f"""
        SELECT root_service, root_operation, service, share_of_traces, mean_self_ms, mean_wait_ms, mean_blame_ms,
               blame_of_end_to_end, pearson AS correlation, p99_self_ms, p95_upstream_ms
        FROM sluice.v_critical_services_between({newest(_MINUTES)})
        WHERE complete AND {_OF_ROOT}
        ORDER BY mean_blame_ms DESC
        LIMIT 200
    """
    text = "Processing time on paths, waits for threads, and blame, in the newest hour of the time range."
    panel = rows("Services on critical paths", text, table(sql), _NONE).span(FULL)
    panel = with_units(panel, share_of_traces="percentunit", blame_of_end_to_end="percentunit", mean_self_ms="ms")
    panel = with_units(panel, mean_wait_ms="ms", mean_blame_ms="ms", p99_self_ms="ms", p95_upstream_ms="ms")
    return of_service(panel, "service")
