"""Panels of the shares of calls that subsets plan: their changes, and the shares that containers got."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.builders import timeseries

from generate.clickhouse import table, time_series
from generate.levels import windows
from generate.parts import FULL, lines, rows, with_units
from generate.variables import among

_SHARES = "arrayMap(weight -> weight / greatest(arraySum(weights), 1), weights)"
_FROM = "fromUnixTimestamp64Milli(toInt64(greatest(${__from}, ${__to} - 3600000)))"


def moved() -> timeseries.Panel:
    sql = f"""
        SELECT
            $__timeInterval(at) AS time,
            concat(upstream, ' to ', downstream) AS pair,
            avg(arraySum(
                endpoint -> abs(shares[endpoint] - before[endpoint]),
                arrayDistinct(arrayConcat(mapKeys(shares), mapKeys(before)))) / 2) AS moved
        FROM
        (
            SELECT
                at, upstream, downstream, mapFromArrays(endpoints, {_SHARES}) AS shares,
                lagInFrame(shares) OVER (
                    PARTITION BY upstream, downstream, instance ORDER BY revision, recorded
                    ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
            FROM sluice.subsets FINAL
            WHERE $__timeFilter_ms(at) AND {among("upstream", "upstreams")} AND state != 'DELETED'
            ORDER BY revision, recorded
            LIMIT 1 BY upstream, downstream, instance, revision
        )
        WHERE notEmpty(before)
        GROUP BY time, pair
        ORDER BY time
    """
    text = (
        "Share of an upstream container's calls that a new revision moves to other endpoints: the mean over revisions. "
        "The first revision of a container in the time range has none before it, and is left out."
    )
    empty = "No container got a second subset in this time range."
    panel = lines("Calls moved by new subsets", text, time_series(sql), unit="percentunit", empty=empty)
    return panel.span(FULL)


def planned() -> table_panel.Panel:
    chosen = f"(SELECT downstream FROM sluice.subsets WHERE {among('upstream', 'upstreams')})"
    calls = windows(
        "service, peer, instance, completions", f"side = 'client' AND peer IN {chosen} AND start >= {_FROM}"
    )
    sql = f"""
        SELECT
            downstream, container,
            if(all_calls = 0, NULL, calls / all_calls) AS planned,
            if(all_requests = 0, NULL, requests / all_requests) AS observed,
            observed - planned AS difference
        FROM
        (
            SELECT
                downstream, container, calls, requests,
                sum(calls) OVER (PARTITION BY downstream) AS all_calls,
                sum(requests) OVER (PARTITION BY downstream) AS all_requests
            FROM
            (
                SELECT downstream, share.1 AS container, sum(calls * share.2) AS calls
                FROM
                (
                    SELECT
                        toString(upstream) AS upstream, instance, toString(downstream) AS downstream,
                        arrayJoin(arrayZip(endpoints, {_SHARES})) AS share
                    FROM sluice.v_subset_now
                    WHERE downstream IN {chosen}
                ) AS s
                INNER JOIN
                (
                    SELECT toString(service) AS upstream, toString(instance) AS instance,
                           toString(peer) AS downstream, sum(completions) AS calls
                    FROM {calls}
                    GROUP BY upstream, instance, downstream
                ) AS c USING (upstream, instance, downstream)
                GROUP BY downstream, container
            ) AS p
            FULL JOIN
            (
                SELECT toString(service) AS downstream, toString(instance) AS container, sum(requests) AS requests
                FROM sluice.container_latency FINAL
                WHERE service IN {chosen} AND window >= {_FROM} AND $__timeFilter(window)
                GROUP BY downstream, container
            ) AS o USING (downstream, container)
        )
        ORDER BY abs(difference) DESC, downstream, container
        LIMIT 200
    """
    text = (
        "Shares of a downstream service's requests in the newest hour of the time range. Planned: the newest subsets "
        "of all upstream containers, weighted by their calls. Observed: requests of the container, also from callers "
        "without a subset."
    )
    panel = rows("Planned and observed shares", text, table(sql), "No downstream service of these has subsets.")
    return with_units(panel, planned="percentunit", observed="percentunit", difference="percentunit").span(FULL)
