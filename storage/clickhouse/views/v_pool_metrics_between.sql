-- Figures of pools in metrics, one value for each (service, instance, side, pool, peer, figure, window), for windows that start in
-- [from_ms, until_ms), epoch milliseconds. size, used, idle, idle_max and pending: numbers, the mean of the window's points; size is
-- NULL for a pool without a limit. timeouts, waits and uses: numbers a second. wait_time and use_time: seconds a second.
-- A counter's rate is its growth since the last point of an earlier window, if that is at most 150 s older and not larger (else the
-- counter was reset); or since its start, if that is at most 150 s ago; or within the window. A single point after a reset has no row.
-- Series beyond the limit, '(more)', count for no pool. Series of one figure add up, but sizes: the largest counts.
CREATE OR REPLACE VIEW v_pool_metrics_between AS
WITH
    read AS
    (
        SELECT
            *,
            lagInFrame(last_ns) OVER earlier AS before_ns,
            lagInFrame(value_max) OVER earlier AS before_value
        FROM pool_metrics FINAL
        WHERE window >= fromUnixTimestamp64Milli(greatest(0, {from_ms:Int64} - 180000))
            AND window < fromUnixTimestamp64Milli({until_ms:Int64})
            AND series != '(more)'
        WINDOW earlier AS
        (
            PARTITION BY service, instance, side, pool, peer, figure, metric_rank, series, kind, start_ns, window_s
            ORDER BY window
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
    ),
    grown AS
    (
        SELECT
            *,
            last_ns - before_ns <= 150e9 AND value_min >= before_value AS goes_on,
            start_ns > 0 AND last_ns - start_ns BETWEEN 1 AND 150e9 AS begins,
            multiIf(kind = 'level', value_sum,
                    kind = 'delta', value_sum,
                    goes_on, value_max - before_value,
                    begins, value_max,
                    value_max - value_min) AS amount,
            multiIf(kind = 'level', toFloat64(points),
                    kind = 'delta', toFloat64(window_s),
                    goes_on, (last_ns - before_ns) / 1e9,
                    begins, (last_ns - start_ns) / 1e9,
                    (last_ns - first_ns) / 1e9) AS per
        FROM read
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64})
    ),
    by_series AS
    (
        SELECT service, instance, side, pool, peer, figure, metric_rank, series, window, window_s,
            sum(amount) / nullIf(sum(per), 0) / if(endsWith(figure, '_time'), 1e9, 1) AS rate
        FROM grown
        GROUP BY service, instance, side, pool, peer, figure, metric_rank, series, window, window_s
    ),
    by_metric AS
    (
        SELECT service, instance, side, pool, peer, figure, metric_rank, window, window_s,
            if(figure IN ('size', 'idle_max'), if(min(rate) = 0 AND figure = 'size', NULL, max(rate)), sum(rate)) AS combined
        FROM by_series
        WHERE rate IS NOT NULL
        GROUP BY service, instance, side, pool, peer, figure, metric_rank, window, window_s
    )
SELECT
    service,
    instance,
    side,
    pool,
    peer,
    figure,
    window,
    window_s,
    combined AS value
FROM by_metric
ORDER BY metric_rank
LIMIT 1 BY service, instance, side, pool, peer, figure, window, window_s
