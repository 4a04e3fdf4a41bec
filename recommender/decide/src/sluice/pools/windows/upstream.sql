-- The time in the services above each pool's service on the critical paths of its SLO's root operation: one statistic per key, over
-- the windows that reach beyond `from_ms`. Complete paths only, since an orphan lacks the services above it.
-- `keys`: (asked, root service and operation as patterns of LIKE, service, by_callers, q, from_ms). by_callers: its callers' CLIENT spans
-- judge it, which contain the wait for its threads. q < 0 stands for the mean.
WITH
    keys AS
    (
        SELECT
            k.1 AS asked, k.2 AS root, k.3 AS operation, k.4 AS service, k.5 AS by_callers, k.6 AS q, k.7 AS from_ms
        FROM (SELECT arrayJoin({keys:Array(Tuple(UInt32, String, String, String, Bool, Float64, Int64))}) AS k)
    ),
    paths AS
    (
        SELECT
            toString(root_service) AS root_service, toString(root_operation) AS root_operation, toString(service) AS service,
            toUnixTimestamp(window) * 1000 AS window_ms, window_s, traces,
            upstream_sum, upstream_latency, call_upstream_sum, call_upstream_latency
        FROM path_services FINAL
        WHERE complete
          AND window > fromUnixTimestamp64Milli({oldest_ms:Int64}, 'UTC') - INTERVAL 1 HOUR  -- longer than any window
          AND window < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND ((root_service, service) IN {services:Array(Tuple(String, String))} OR service IN {of_any_root:Array(String)})
    )
SELECT
    asked,
    sum(traces) AS seen,
    if(
        any(q) < 0,
        sum(if(by_callers, call_upstream_sum, upstream_sum)) / seen / 1e6,
        latency_quantile_ms(sumMap(if(by_callers, call_upstream_latency, upstream_latency)), any(q))
    ) AS upstream_ms
FROM paths
INNER JOIN keys USING (service)
WHERE root_service LIKE root AND root_operation LIKE operation AND window_ms + 1000 * window_s > from_ms
GROUP BY asked
HAVING seen >= {least:UInt64}
