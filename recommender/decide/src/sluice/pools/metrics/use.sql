-- What is used of the pools of some {services}, and who waits, in windows that begin from {from_s} on (Unix time): one row for each pool
-- of an instance and figure, of the metric of the lowest rank. readings: of the newest four windows. Series of one figure add up. Series of
-- pools that have no name may be of several pools; they count where there is one.
SELECT
    toString(service), toString(instance), toString(side), toString(pool), toString(peer), toString(figure), splitByChar(' ', any(one))[1] AS metric,
    arraySlice(arraySort(groupArray((last_ms, first_ms, points_of, low, mean, high, total, of_series, delta))), -4) AS readings
FROM
(
    SELECT
        service, instance, side, pool, peer, figure, metric_rank,
        any(series)                       AS one,
        intDiv(max(last_ns), 1000000)     AS last_ms,
        intDiv(min(first_ns), 1000000)    AS first_ms,
        max(points)                       AS points_of,
        sum(value_min)                    AS low,
        sum(value_sum / points)           AS mean,
        sum(value_max)                    AS high,
        sum(value_sum)                    AS total,
        sum(cityHash64(series, start_ns)) AS of_series,
        max(kind = 'delta')               AS delta
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
