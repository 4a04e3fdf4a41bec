"""Panels of a pool's queue and CPU, and of its decisions."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.levels import newest
from generate.parts import FULL, lines, rows, set_to, with_units
from generate.variables import IN_POOL, PEER, text

# The views compute rates over all series of their range.
_MINUTES = 360


def panels() -> list[Builder[Panel]]:
    return [queue(), cpu()]


def queue() -> timeseries.Panel:
    sql = f"""
        SELECT window AS time, figure, avg(mean) AS mean
        FROM
        (
            SELECT window, figure, instance, sum(value) AS mean
            FROM sluice.v_pool_metrics_between({newest(_MINUTES)})
            WHERE service = {text("service")} AND figure IN ('size', 'used', 'idle', 'pending')
                AND (side = 'client' AND peer IN ('', {PEER}) OR side != 'client')
                AND (side = 'client') = ({text("side")} = 'client')
            GROUP BY window, figure, instance
        )
        GROUP BY time, figure
        ORDER BY time
    """
    return lines(
        "Queue: $service $side $peer",
        "Mean of an instance, from the metrics of its agent: size, used, idle, and pending, the callers in the queue. "
        "The newest 6 h of the time range.",
        time_series(sql),
        empty="No metrics of this pool. docs/your-application.md says which agents send them, and how.",
    ).display_name("${__field.labels.figure}")


def cpu() -> timeseries.Panel:
    sql = f"""
        SELECT
            window AS time,
            avg(container_cpu_cores) AS "cores of a container",
            avg(host_cpu_utilization) AS "utilization of its host"
        FROM sluice.v_container_latency_between({newest(_MINUTES)})
        WHERE service = {text("service")}
            AND (container_cpu_cores IS NOT NULL OR host_cpu_utilization IS NOT NULL)
        GROUP BY time
        ORDER BY time
    """
    panel = lines(
        "CPU: $service",
        "CPU cores that a container of the service uses, and the CPU utilization of its host (right). The newest 6 h "
        "of the time range.",
        time_series(sql),
        unit="short",
        empty="No requests of this service, or no metrics of its hosts and containers.",
    )
    return with_axis(panel, "utilization of its host")


def with_axis(panel: timeseries.Panel, column: str) -> timeseries.Panel:
    """Shows a column of 0..1 as percent, on an axis of its own."""
    options = {"unit": "percentunit", "max": 1, "custom.axisPlacement": "right"}
    return panel.override_by_name(column, [set_to(option, value) for option, value in options.items()])


def decisions() -> table_panel.Panel:
    sql = f"""
        SELECT
            min(at) AS since, max(at) AS until, any(state) AS state, any(basis) AS basis, any(action) AS action,
            any(current) AS current, any(target) AS target, any(least) AS smallest_legal, any(most) AS largest_legal,
            any(confidence) AS confidence,
            any(threshold_ms) AS threshold_ms, arrayStringConcat(any(reasons), ', ') AS reasons, revision
        FROM sluice.recommendations
        WHERE $__timeFilter_ms(at) AND {IN_POOL}
        GROUP BY revision
        ORDER BY since DESC
        LIMIT 200
    """
    panel = rows(
        "Decisions: $service $side $peer",
        "From the first record of a decision to its last.",
        table(sql),
        "No decision on this pool in this time range.",
    ).span(FULL)
    return with_units(panel, confidence="percentunit", threshold_ms="ms")
