"""Panels of the overview: pools by state, changes that wait, effects of changes, calls that ended late."""

from grafana_foundation_sdk.builders import common, dashboard, stat, timeseries
from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import BigValueGraphMode
from grafana_foundation_sdk.models.dashboard import Panel

from generate import effects
from generate.clickhouse import DATASOURCE, table, time_series
from generate.parts import FULL, HEIGHT, POOL_URL, STALE_S, lines, linked, rows, set_to, steps, with_units
from generate.variables import among

_CHOSEN = among("service", "services")
_NO_CALLERS = "No caller's spans show which calls are in time."


def panels() -> list[Builder[Panel]]:
    return [counts(), in_time(), waiting(), effects.effects(), late(), alerts()]


def counts() -> stat.Panel:
    sql = f"""
        SELECT
            countIf(fresh AND state = 'PROVIDED') AS "best size known",
            countIf(fresh AND state = 'LEARNING') AS learning,
            countIf(fresh AND state = 'GUARDED') AS guarded,
            countIf(fresh AND state = 'UNSATURATED') AS "never full",
            countIf(fresh AND state = 'PAUSED') AS paused,
            countIf(NOT fresh OR state = 'STALE') AS stale,
            countIf(fresh AND state = 'NO_DATA') AS "without data"
        FROM (SELECT state, age_s <= {STALE_S} AS fresh FROM sluice.v_pool_now WHERE age_s < 86400 AND {_CHOSEN})
        HAVING count() > 0
    """
    panel = (
        stat.Panel()
        .title("Pools by state")
        .description(
            f"By the newest decision on each pool within a day. Stale: the decision is older than {STALE_S} s, or its "
            "lease is over."
        )
        .datasource(DATASOURCE)
        .span(FULL)
        .height(4)
        .unit("short")
        .graph_mode(BigValueGraphMode.NONE)
        .no_value("No decisions: the decider has not run.")
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .thresholds(steps((1, "green"), base="blue"))
        .with_target(table(sql))
    )
    for column in ("stale", "without data"):
        panel = panel.override_by_name(column, [set_to("thresholds", steps((1, "orange")).build().to_json())])
    return panel


def in_time() -> timeseries.Panel:
    asked = f"$__timeFilter_ms(at) AND {_CHOSEN} AND side = 'server' AND asked_per_s > 0 AND in_time IS NOT NULL"
    sql = f"""
        SELECT
            toStartOfInterval(at, toIntervalSecond(greatest(60, $__interval_s))) AS time,
            service,
            sum(asked_per_s * in_time) / sum(asked_per_s) AS share
        FROM sluice.recommendations
        WHERE {asked} AND service IN
            (
                SELECT service
                FROM sluice.recommendations
                WHERE {asked}
                GROUP BY service
                ORDER BY sum(asked_per_s * (1 - in_time)) DESC
                LIMIT 10
            )
        GROUP BY time, service
        ORDER BY time
    """
    text = (
        "Share of the calls of server pools that end within the threshold, by the decisions, of the ten services with "
        "most late calls in the time range. Vertical lines mark changes."
    )
    panel = lines("Calls in time", text, time_series(sql), unit="percentunit", empty=_NO_CALLERS)
    return panel.max(1).span(FULL).display_name("${__field.labels.service}")


def waiting() -> table_panel.Panel:
    sql = f"""
        SELECT service, side, peer, state, action, current, target, toInt64(target) - toInt64(current) AS change,
               confidence, arrayStringConcat(reasons, ', ') AS reasons, age_s
        FROM sluice.v_pool_now
        WHERE current IS NOT NULL AND target IS NOT NULL AND current != target AND age_s < 86400
            AND {_CHOSEN}
        ORDER BY abs(change) DESC
        LIMIT 100
    """
    text = "Pools whose target is not in force. HOLD: applying is off, or the decision is not to be applied."
    panel = rows("Changes that wait", text, table(sql), "Every pool has its target size.")
    panel = with_units(panel, confidence="percentunit", age_s="s")
    return linked(panel, "service", "Pool", POOL_URL)


def late() -> table_panel.Panel:
    sql = f"""
        SELECT service, side, peer, greatest(least(best_per_s, asked_per_s) - asked_per_s * in_time, 0) AS lost_per_s,
               asked_per_s * (1 - in_time) AS late_per_s, asked_per_s, in_time, best_per_s, current, target
        FROM sluice.v_pool_now
        WHERE in_time IS NOT NULL AND asked_per_s IS NOT NULL AND best_per_s IS NOT NULL AND age_s < 86400
            AND {_CHOSEN}
        ORDER BY lost_per_s DESC, late_per_s DESC
        LIMIT 20
    """
    text = (
        "Calls of an instance per second at the newest decision. `late_per_s` ended later than the threshold; "
        "`best_per_s` the best size is expected to complete; `lost_per_s` it would complete more in time than the size "
        "in force: the regret."
    )
    panel = rows("Pools with most calls lost", text, table(sql), _NO_CALLERS)
    panel = with_units(
        panel, lost_per_s="reqps", late_per_s="reqps", asked_per_s="reqps", in_time="percentunit", best_per_s="reqps"
    )
    return linked(panel, "service", "Pool", POOL_URL)


def alerts() -> Builder[Panel]:
    """Grafana's list of alerts, which has no query. The SDK has no builder of its options."""
    shown = {"firing": True, "pending": True, "noData": True, "error": True, "normal": False}
    options = {"viewMode": "list", "groupMode": "default", "maxItems": 20, "sortOrder": 3, "stateFilter": shown}
    return (
        dashboard.Panel()
        .type("alertlist")
        .title("Alerts")
        .description("Alerts of Sluice that Grafana knows: its own, and those of its data sources.")
        .span(12)
        .height(HEIGHT)
        .options(options | {"alertInstanceLabelFilter": '{alertname=~"Sluice.*"}', "dashboardAlerts": False})
    )
