"""Panels of the call graph: as a graph, and as a table of its edges."""

from grafana_foundation_sdk.builders import nodegraph, timeseries
from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import DATASOURCE, table, time_series
from generate.parts import FULL, TENS, lines, of_service, rows, set_to, with_units
from generate.variables import among

_NONE = "No call ended in the newest 10 min of the time range, or no chosen service has one."
_CHOSEN = f"({among('caller', 'services')} OR {among('callee', 'services')})"
# A histogram of an edge per 10 s: sixty of an edge.
_NEWEST = f"""
    (
        SELECT caller, callee, sum(e.calls) AS calls, sum(e.errors) AS errors, sumMap(e.latency) AS latency,
               calls / least(600, (${{__to}} - ${{__from}}) / 1000) AS per_s, errors / calls AS failing
        FROM sluice.call_edges AS e FINAL
        WHERE window >= greatest($__fromTime, $__toTime - INTERVAL 10 MINUTE) AND window <= $__toTime AND {_CHOSEN}
        GROUP BY caller, callee
    )"""


def panels() -> list[Builder[Panel]]:
    return [graph(), edges(), rates(), errors()]


def graph() -> nodegraph.Panel:
    nodes = f"""
        SELECT
            service AS id,
            service AS title,
            sum(received) AS mainstat,
            max(p95) AS secondarystat,
            sum(received_errors) / nullIf(sum(received_calls), 0) AS failing,
            ifNull(failing, 0) AS arc__failed,
            1 - arc__failed AS arc__ok
        FROM
        (
            SELECT callee AS service, per_s AS received, calls AS received_calls, errors AS received_errors,
                   latency_quantile_ms(latency, 0.95) AS p95
            FROM {_NEWEST}
            UNION ALL
            SELECT caller, 0, 0, 0, NULL FROM {_NEWEST}
        )
        GROUP BY id
        ORDER BY id
        LIMIT 200
    """
    lines_between = f"""
        SELECT
            concat(caller, '>', callee) AS id, caller AS source, callee AS target, per_s AS mainstat,
            latency_quantile_ms(latency, 0.95) AS secondarystat
        FROM {_NEWEST}
        ORDER BY mainstat DESC
        LIMIT 500
    """
    return (
        nodegraph.Panel()
        .title("Call graph")
        .description(
            "Services and their calls in the newest 10 min of the time range: calls per second, and p95 of the callee "
            "(of a node: the largest of its callers). The red part of a circle is the share of failed calls."
        )
        .datasource(DATASOURCE)
        .span(FULL)
        .height(20)
        .no_value(_NONE)
        .with_target(table(nodes, "A"))
        .with_target(table(lines_between, "B"))
        .nodes(nodegraph.NodeOptions().main_stat_unit("reqps").secondary_stat_unit("ms"))
        .edges(nodegraph.EdgeOptions().main_stat_unit("reqps").secondary_stat_unit("ms"))
        .override_by_name("arc__failed", [set_to("color", {"mode": "fixed", "fixedColor": "red"})])
        .override_by_name("arc__ok", [set_to("color", {"mode": "fixed", "fixedColor": "green"})])
    )


def edges() -> table_panel.Panel:
    sql = f"""
        SELECT
            caller, callee, per_s AS rate_per_s, failing AS error_ratio, latency_quantile_ms(latency, 0.5) AS p50_ms,
            latency_quantile_ms(latency, 0.95) AS p95_ms, latency_quantile_ms(latency, 0.99) AS p99_ms
        FROM {_NEWEST}
        ORDER BY rate_per_s DESC
        LIMIT 500
    """
    text = "Each edge in the newest 10 min of the time range, with the durations of the callee's spans."
    panel = rows("Calls between services", text, table(sql), _NONE).span(FULL)
    panel = with_units(panel, rate_per_s="reqps", error_ratio="percentunit", p50_ms="ms", p95_ms="ms", p99_ms="ms")
    for column in ("caller", "callee"):
        panel = of_service(panel, column)
    return panel


def _over_time(value: str) -> str:
    return f"""
        SELECT
            toStartOfInterval(window, toIntervalSecond{TENS}) AS time,
            callee,
            {value} AS value
        FROM sluice.call_edges AS e FINAL
        WHERE $__timeFilter(window) AND {among("callee", "services")}
        GROUP BY time, callee
        ORDER BY time
    """


def rates() -> timeseries.Panel:
    sql = _over_time(f"sum(calls) / {TENS}")
    panel = lines("Calls by callee", "Calls per second from all callers.", time_series(sql), unit="reqps", empty=_NONE)
    return panel.display_name("${__field.labels.callee}")


def errors() -> timeseries.Panel:
    sql = _over_time("sum(errors) / sum(calls)")
    text = "Share of calls that failed, from all callers."
    panel = lines("Failed calls by callee", text, time_series(sql), unit="percentunit", empty=_NONE)
    return panel.display_name("${__field.labels.callee}")
