"""Panels of tuning sessions: the best trial against the default, and the trials of each session."""

from grafana_foundation_sdk.builders import common, stat, trend
from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import (
    BigValueGraphMode,
    LegendDisplayMode,
    LegendPlacement,
    LineInterpolation,
)
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Panel

from generate.clickhouse import DATASOURCE, table
from generate.parts import FULL, HEIGHT, colored, rows, set_to, steps, with_units
from generate.variables import among

# Sessions with a trial in the time range, and all of their trials: the default's may be older than the range.
_CHOSEN = f"""{among("session", "sessions")}
        AND session IN (SELECT session FROM sluice.tuning_trials WHERE $__timeFilter_ms(asked_at))"""
_NONE = "No trial of these sessions was asked for in this time range."
_COLORS = {"GOOD": "green", "HOPELESS": "yellow", "UNSAFE": "orange", "FAILED": "red", "IN FLIGHT": "blue"}


def panels() -> list[Builder[Panel]]:
    return [best(), trials()]


def best() -> stat.Panel:
    sql = f"""
        SELECT session, (any(baseline) - min(best)) / nullIf(abs(any(baseline)), 0) AS better_by
        FROM sluice.v_tuning_trials
        WHERE {_CHOSEN}
        GROUP BY session
        ORDER BY session
    """
    return (
        stat.Panel()
        .title("Best trial against the default")
        .description(
            "How much less the objective of the best trial is, as a share of the default's value. Green from 1 %. Only "
            "the gain of the confirmation, in `./sluice tuning status`, has an interval."
        )
        .datasource(DATASOURCE)
        .span(FULL)
        .height(4)
        .unit("percentunit")
        .graph_mode(BigValueGraphMode.NONE)
        .no_value("No value of the default yet, or no trial in this time range.")
        .reduce_options(common.ReduceDataOptions().values(True).calcs(["lastNotNull"]))
        .thresholds(steps((0.01, "green"), base="yellow"))
        .with_target(table(sql))
    )


def trials() -> trend.Panel:
    sql = f"""
        SELECT number, value, lower, upper, best, baseline
        FROM sluice.v_tuning_trials
        WHERE {_CHOSEN} AND place IS NOT NULL
        ORDER BY number
    """
    return (
        trend.Panel()
        .title("Trials of $sessions")
        .description(
            "The objective of each trial over its number; less is better. Small dots: the interval of the value. "
            "`best`: the least value so far of the search's good trials that no repeat refuted. `baseline`: the value "
            "of the default, trial 0. The last trials repeat default and winner. A trial without a dot has no value: "
            "the table below has the cause."
        )
        .datasource(DATASOURCE)
        .repeat("sessions")
        .repeat_direction("h")
        .max_per_row(2)
        .span(FULL)
        .height(HEIGHT)
        .unit("short")
        .no_value(_NONE)
        .with_target(table(sql))
        .x_field("number")
        .line_interpolation(LineInterpolation.STEP_AFTER)
        .override_by_name("number", [set_to("custom.axisLabel", "trial"), set_to("decimals", 0)])
        .override_by_name("value", _dots("blue", 8))
        .override_by_name("lower", _dots("blue", 3))
        .override_by_name("upper", _dots("blue", 3))
        .override_by_name("best", [_painted("green")])
        .override_by_name(
            "baseline", [_painted("yellow"), set_to("custom.lineStyle", {"fill": "dash", "dash": [6, 6]})]
        )
        .legend(
            common.VizLegendOptions()
            .show_legend(True)
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
        )
    )


def _dots(color: str, size: int) -> list[DynamicConfigValue]:
    return [_painted(color), set_to("custom.drawStyle", "points"), set_to("custom.pointSize", size)]


def _painted(color: str) -> DynamicConfigValue:
    return set_to("color", {"mode": "fixed", "fixedColor": color})


def configurations() -> table_panel.Panel:
    sql = f"""
        SELECT
            session, number, purpose, confirms, if(verdict = '', 'IN FLIGHT', verdict) AS verdict, value, lower, upper,
            excess, why,
            arrayStringConcat(arrayMap((name, setting) -> concat(name, '=', setting),
                mapKeys(parameters), mapValues(parameters)), ', ') AS configuration,
            asked_at, applied_at, told_at
        FROM sluice.v_tuning_trials
        WHERE {_CHOSEN}
        ORDER BY asked_at DESC, number DESC
        LIMIT 1000
    """
    text = (
        "The newest 1000 trials. HOPELESS: it ended early, since it could not be the best. UNSAFE: it missed an SLO; "
        "`excess` is by how much, as a share of the limit. FAILED: its configuration was not set or not measured. "
        "`confirms`: the trial that it repeats."
    )
    panel = with_units(rows("Trials", text, table(sql), _NONE).span(FULL), excess="percentunit")
    return colored(panel, "verdict", _COLORS)
