"""Panels of connection subsets: connections, changes, responses, adoption, evenness, predictions, latency models."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate import adoption, predictions, shares
from generate.clickhouse import table, time_series
from generate.levels import windows
from generate.parts import FULL, colored, lines, rows, with_units
from generate.variables import among

_NONE = "No subsets: the configuration has none for these services, or no solution exists yet."
_COLORS = {"PROVIDED": "green", "LEARNING": "yellow", "PAUSED": "purple", "HELD": "red"}


def panels() -> list[Builder[Panel]]:
    return [
        *(subsets(), changes(), deliveries(), adoption.pairs(), adoption.callers()),
        *(shares.moved(), shares.planned(), evenness()),
        *(predictions.over_time(), predictions.pairs(), models()),
    ]


def subsets() -> table_panel.Panel:
    sql = f"""
        SELECT
            upstream, instance, downstream, state,
            arrayStringConcat(
                arrayMap(
                    (endpoint, weight) -> concat(endpoint, ' ', toString(round(100 * weight / arraySum(weights))), '%'),
                    endpoints, weights),
                ', ') AS connected_to,
            strategy, revision, arrayStringConcat(reasons, ', ') AS reasons, delivered, delivered_revision, age_s
        FROM sluice.v_subset_now
        WHERE {among("upstream", "upstreams")}
        ORDER BY upstream, downstream, instance
        LIMIT 1000
    """
    text = "The newest subset of each upstream container, with shares of its calls, and a client's last response to it."
    panel = with_units(rows("Subsets", text, table(sql), _NONE).span(FULL), age_s="s")
    return colored(panel, "state", _COLORS)


def changes() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(at) AS time,
            concat(upstream, ' to ', downstream) AS pair,
            uniqExact(instance) AS containers
        FROM sluice.subsets FINAL
        WHERE $__timeFilter_ms(at) AND {among("upstream", "upstreams")}
        GROUP BY time, pair
        ORDER BY time
    """
    text = "Upstream containers whose endpoints, weights or state changed."
    return lines("Changed subsets", text, time_series(sql), empty="No subset changed in this time range.")


def deliveries() -> timeseries.Panel:
    sql = f"""
        SELECT $__timeInterval(received) AS time, toString(outcome) AS response, count() AS responses
        FROM sluice.subset_deliveries FINAL
        WHERE $__timeFilter_ms(received) AND {among("upstream", "upstreams")}
        GROUP BY time, response
        ORDER BY time
    """
    text = "Responses of clients to the subsets that they received; REFUSED: a NACK of xDS, or a refusal of a caller."
    return lines("Responses of clients", text, time_series(sql), empty="No client responded in this time range.")


def evenness() -> table_panel.Panel:
    pairs = "(service, peer) IN (SELECT upstream, downstream FROM sluice.subsets)"
    condition = f"side = 'client' AND {among('service', 'upstreams')} AND {pairs}"
    in_flight = windows("service, peer, instance, busy_ns", condition)
    sql = f"""
        SELECT
            upstream, downstream, count() AS containers, avg(mean) AS mean_in_flight,
            argMax(container, mean) AS busiest, max(mean) / avg(mean) AS busiest_to_mean
        FROM
        (
            SELECT service AS upstream, peer AS downstream, instance AS container,
                   sum(busy_ns) / (1e6 * (${{__to}} - ${{__from}})) AS mean
            FROM {in_flight}
            GROUP BY upstream, downstream, container
        )
        GROUP BY upstream, downstream
        HAVING avg(mean) > 0
        ORDER BY busiest_to_mean DESC
        LIMIT 200
    """
    text = "Mean calls in flight of an upstream container, and its busiest container's as a multiple of the mean."
    return rows("Calls in flight of upstream containers", text, table(sql)).span(FULL)


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
    empty = "No latency model: subsets are not configured, or no training has ended."
    panel = rows("Latency models", text, table(sql), empty).span(FULL)
    return with_units(panel, mu_error="percentunit", sigma_error="percentunit", pair_error="percentunit")
