"""Panels of the latency that subsets predict for each pair of services, beside the measured one."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries

from generate.clickhouse import table, time_series
from generate.parts import FULL, TENS, lines, rows, with_units
from generate.variables import among

# The newest hour of the time range: a histogram of each container per 10 s.
_FROM = "greatest($__fromTime, $__toTime - INTERVAL 1 HOUR)"
# Each run of the solver predicts, and a new model causes one: a day without a run is a pair that is gone.
_CHOSEN = f"""FROM sluice.subset_pairs
                WHERE {among("upstream", "upstreams")} AND at > {_FROM} - INTERVAL 1 DAY AND at <= $__toTime_ms"""
# Own times of the downstream service in each window, with the prediction that was in force at its start.
_WINDOWS = f"""
            SELECT m.window AS window, m.pair AS pair, m.requests AS requests, m.latency AS latency,
                   p.percentile AS percentile, p.predicted_ms AS predicted_ms
            FROM
            (
                SELECT window, (application, upstream, downstream) AS pair, sum(o.requests) AS requests,
                       sumMap(o.latency) AS latency
                FROM sluice.container_own_time AS o FINAL
                INNER JOIN
                (
                    SELECT DISTINCT application, upstream, downstream
                {_CHOSEN}
                ) AS known ON o.service = known.downstream
                WHERE window >= {_FROM} AND window <= $__toTime
                GROUP BY window, pair
            ) AS m
            ASOF INNER JOIN
            (
                SELECT (application, upstream, downstream) AS pair, toDateTime(at, 'UTC') AS since, percentile,
                       predicted_ms
                {_CHOSEN}
            ) AS p ON m.pair = p.pair AND m.window >= p.since"""
_NONE = (
    "No subsets: the configuration has none for these services, no solution exists yet, or no request of a downstream "
    "service ended in the newest hour of the time range."
)
_MEANING = (
    "of the own time of the downstream service's requests, without their waits for other services, which is what the "
    "solver predicts; `percentile` of the configuration, p95 by default. Measured: all of its containers and callers."
)


def over_time() -> timeseries.Panel:
    sql = f"""
        SELECT time, name, latency_quantile_ms(latency, percentile) AS measured, predicted
        FROM
        (
            SELECT
                toStartOfInterval(window, toIntervalSecond{TENS}) AS time,
                concat(pair.2, ' to ', pair.3) AS name,
                sumMap(latency) AS latency,
                argMax(percentile, window) AS percentile,
                avgWeighted(predicted_ms, requests) AS predicted
            FROM
            ({_WINDOWS}
            )
            GROUP BY time, name
        )
        ORDER BY time
    """
    text = f"Percentile {_MEANING} In the newest hour of the time range, with the prediction in force."
    return lines("Predicted and measured latency over time", text, time_series(sql), unit="ms", empty=_NONE).span(FULL)


def pairs() -> table_panel.Panel:
    sql = f"""
        SELECT application, upstream, downstream, percentile, predicted_ms, measured_ms,
               measured_ms / predicted_ms AS measured_to_predicted, requests
        FROM
        (
            SELECT
                pair.1 AS application, pair.2 AS upstream, pair.3 AS downstream, percentile, predicted_ms,
                latency_quantile_ms(latency, percentile) AS measured_ms, requests
            FROM
            (
                SELECT pair, sumMap(latency) AS latency, argMax(w.percentile, window) AS percentile,
                       avgWeighted(w.predicted_ms, w.requests) AS predicted_ms, sum(w.requests) AS requests
                FROM
                ({_WINDOWS}
                ) AS w
                GROUP BY pair
            )
        )
        ORDER BY abs(log(measured_to_predicted)) DESC, application, upstream, downstream
        LIMIT 500
    """
    text = (
        f"Percentile {_MEANING} In the newest hour of the time range; predicted: the mean of the predictions in force. "
        "The pairs with the largest difference come first."
    )
    panel = rows("Predicted and measured latency of pairs", text, table(sql), _NONE).span(FULL)
    return with_units(panel, percentile="percentunit", predicted_ms="ms", measured_ms="ms")
