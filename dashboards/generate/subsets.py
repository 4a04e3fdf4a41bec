"""Panels of connection subsets: connections, changes, and latency models."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table, time_series
from generate.parts import FULL, lines, rows, set_to, with_units

_COLORS = {"PROVIDED": "green", "LEARNING": "yellow", "PAUSED": "purple", "HELD": "red"}


def panels() -> list[Builder[Panel]]:
    return [subsets(), changes(), models()]


def subsets() -> table_panel.Panel:
    sql = """
        SELECT
            upstream, instance, downstream, state,
            arrayStringConcat(
                arrayMap(
                    (endpoint, weight) -> concat(endpoint, ' ', toString(round(100 * weight / arraySum(weights))), '%'),
                    endpoints, weights),
                ', ') AS connected_to,
            strategy, revision, arrayStringConcat(reasons, ', ') AS reasons, delivered, delivered_revision, age_s
        FROM sluice.v_subset_now
        ORDER BY upstream, downstream, instance
        LIMIT 1000
    """
    colors = [{"type": "value", "options": {state: {"color": color} for state, color in _COLORS.items()}}]
    text = "The newest subset of each upstream container, with shares of its calls, and a client's last response to it."
    panel = with_units(rows("Subsets", text, table(sql)).span(FULL), age_s="s")
    cell = set_to("custom.cellOptions", {"type": "color-text"})
    return panel.override_by_name("state", [cell, set_to("mappings", colors)])


def changes() -> timeseries.Panel:
    sql = """
        SELECT
            $__timeInterval(at) AS time,
            concat(upstream, ' to ', downstream) AS pair,
            uniqExact(instance) AS containers
        FROM sluice.subsets FINAL
        WHERE $__timeFilter_ms(at)
        GROUP BY time, pair
        ORDER BY time
    """
    return lines("Changed subsets", "Upstream containers whose endpoints, weights or state changed.", time_series(sql))


def models() -> table_panel.Panel:
    sql = """
        SELECT application, service, learnt, basis, held_out, mu_error, sigma_error, pair_error
        FROM sluice.latency_models FINAL
        ORDER BY learnt DESC, application, service
        LIMIT 1 BY application, service
    """
    text = (
        "The latency model of each service, with its errors on samples outside the training: of the median, of the "
        "spread, and of the percentile over all containers. Empty: too few samples for a test set."
    )
    panel = rows("Latency models", text, table(sql))
    return with_units(panel, mu_error="percentunit", sigma_error="percentunit", pair_error="percentunit")
