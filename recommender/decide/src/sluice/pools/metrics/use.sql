-- What is used of the pools of some {services}, and who waits, in windows that begin from {from_s} on (Unix time): one row for each pool
-- of an instance and figure, of the metric of the lowest rank. readings: by window, oldest first. Series of one figure add up. Series of
-- pools that have no name may be of several pools; they count where there is one.
SELECT
    service, instance, side, pool, peer, figure,
    any(metric)                    AS metric,
    arraySort(groupArray((last_ms, first_ms, points, low, mean, high, total, of_series, delta))) AS readings
FROM
(
    SELECT
        toString(service)                    AS service,
        toString(instance)                   AS instance,
        toString(side)                       AS side,
        toString(pool)                       AS pool,
        toString(peer)                       AS peer,
        toString(figure)                     AS figure,
        metric_rank,
        any(splitByChar(' ', series)[1])     AS metric,
        intDiv(max(last_ns), 1000000)        AS last_ms,
        intDiv(min(first_ns), 1000000)       AS first_ms,
        max(pool_metrics.points)             AS points,
        sum(value_min)                       AS low,
        sum(value_sum / pool_metrics.points) AS mean,
        sum(value_max)                       AS high,
        sum(value_sum)                       AS total,
        sum(cityHash64(series, start_ns))    AS of_series,
        max(kind = 'delta')                  AS delta
    FROM pool_metrics FINAL
    PREWHERE service IN {services:Array(String)} AND figure IN ('used', 'pending', 'waits', 'wait_time', 'timeouts')
        AND window >= fromUnixTimestamp({from_s:Int64})
    WHERE series != '(more)'
    GROUP BY service, instance, side, pool, peer, figure, metric_rank, window
    HAVING pool != '' OR uniqExact(series) = 1
)
GROUP BY service, instance, side, pool, peer, figure, metric_rank
ORDER BY metric_rank
LIMIT 1 BY service, instance, side, pool, peer, figure
