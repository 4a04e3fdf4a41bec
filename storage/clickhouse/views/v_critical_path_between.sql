-- Critical paths of each root operation whose root ended in [from_ms, until_ms), epoch milliseconds (by whole windows): the share
-- of each among the traces of its operation, its times, and example traces. `complete` = false: fragments whose parent never
-- arrived. The median trace is of the window with the nearest median.
CREATE OR REPLACE VIEW v_critical_path_between AS
WITH
    per_way AS
    (
        SELECT
            root_service,
            root_operation,
            complete,
            signature,
            sum(traces) AS n,
            sum(sum_ns) / n / 1e6 AS mean,
            sumMap(latency) AS all,
            max((slowest_ns, slowest_trace_id)) AS slowest,
            groupArray((latency_quantile_ms(latency, 0.5), median_trace_id)) AS medians
        FROM critical_paths FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY root_service, root_operation, complete, signature
    )
SELECT
    root_service,
    root_operation,
    complete,
    signature,
    n AS traces,
    n / sum(n) OVER (PARTITION BY root_service, root_operation, complete) AS share,
    mean AS mean_ms,
    latency_quantile_ms(all, 0.5) AS p50_ms,
    latency_quantile_ms(all, 0.95) AS p95_ms,
    latency_quantile_ms(all, 0.99) AS p99_ms,
    slowest.1 / 1e6 AS slowest_ms,
    slowest.2 AS slowest_trace_id,
    arraySort(m -> (abs(m.1 - p50_ms), m.2), medians)[1].2 AS median_trace_id
FROM per_way
ORDER BY root_service, root_operation, complete DESC, traces DESC
