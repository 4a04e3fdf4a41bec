-- The sizes of pools in the metrics of some {services}, in windows that begin from {from_s} on (Unix time), oldest first.
SELECT
    toString(service)          AS service,
    toString(instance)         AS instance,
    toString(side)             AS side,
    toString(pool)             AS pool,
    toString(peer)             AS peer,
    metric_rank,
    series,
    value_min,
    value_max,
    intDiv(first_ns, 1000000)  AS first_ms,
    intDiv(last_ns, 1000000)   AS last_ms
FROM pool_metrics FINAL
PREWHERE service IN {services:Array(String)} AND figure = 'size' AND window >= fromUnixTimestamp({from_s:Int64})
WHERE series != '(more)'
ORDER BY last_ms, service, instance, side, pool, series
