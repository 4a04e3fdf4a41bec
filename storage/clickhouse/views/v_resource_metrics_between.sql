-- Usage of hosts, containers and collectors, one value for each (role, host, instance, window), for windows that start in
-- [from_ms, until_ms), epoch milliseconds. Ratios 0..1, cores, bytes and spans per second (collector_queue: bytes). Unknown values
-- have no row.
-- A counter's rate is its growth since the last point of an earlier window, if that is at most 60 s older and not larger (else the
-- counter was reset); or since its start, if that is at most 60 s ago; or within the window.
-- Series beyond the limit, '(more)', count for no host or container.
-- Series of one metric: ratios and cores of a host give a mean, network interfaces the maximum, all others a sum.
CREATE OR REPLACE VIEW v_resource_metrics_between AS
WITH
    read AS
    (
        SELECT
            *,
            lagInFrame(last_ns) OVER earlier AS before_ns,
            lagInFrame(value_max) OVER earlier AS before_value
        FROM resource_metrics FINAL
        WHERE window >= fromUnixTimestamp64Milli(greatest(0, {from_ms:Int64} - 120000))
            AND window < fromUnixTimestamp64Milli({until_ms:Int64})
            AND series != '(more)'
        WINDOW earlier AS
        (
            PARTITION BY role, host, instance, metric_rank, series, kind, start_ns, window_s
            ORDER BY window
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
    ),
    grown AS
    (
        SELECT
            *,
            last_ns - before_ns <= 60e9 AND value_min >= before_value AS goes_on,
            start_ns > 0 AND last_ns - start_ns BETWEEN 1 AND 60e9 AS begins,
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
        SELECT role, host, instance, metric_rank, series, window, window_s,
            sum(amount) / nullIf(sum(per), 0) / if(role IN ('host_network', 'host_memory_bandwidth') OR startsWith(role, 'collector_'), 1, 1e9) AS rate
        FROM grown
        GROUP BY role, host, instance, metric_rank, series, window, window_s
    ),
    by_metric AS
    (
        SELECT role, host, instance, metric_rank, window, window_s,
            multiIf(role IN ('host_cpu_idle', 'host_memory_bandwidth_utilization'), avg(rate),
                    role = 'host_network_utilization', max(rate),
                    sum(rate)) AS combined
        FROM by_series
        WHERE rate IS NOT NULL
        GROUP BY role, host, instance, metric_rank, window, window_s
    )
SELECT
    role,
    host,
    instance,
    window,
    window_s,
    assumeNotNull(combined) AS value
FROM by_metric
ORDER BY metric_rank
LIMIT 1 BY role, host, instance, window, window_s
