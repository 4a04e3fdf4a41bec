-- The time in the services above each pool's service on the critical paths of its SLO's root operation: one statistic per key, over
-- the windows that reach beyond `from_ms`. Complete paths only, since an orphan lacks the services above it.
-- The table `keys`, sent with the query. root, operation: of the SLO, as patterns of LIKE. exact_root: empty for a pattern.
-- The wait for the service's own threads is not above its pools. per_mille: the quantile; < 0 stands for the mean.
WITH
    paths AS
    (
        SELECT
            toString(root_service) AS root_service, toString(root_operation) AS root_operation, toString(service) AS service,
            toUnixTimestamp(window) * 1000 AS window_ms, window_s, traces,
            call_upstream_sum, call_upstream_latency
        FROM path_services FINAL
        WHERE complete
          AND window > fromUnixTimestamp64Milli({oldest_ms:Int64}, 'UTC') - INTERVAL 1 HOUR  -- longer than any window
          AND window < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND ((root_service, service) IN (SELECT exact_root, service FROM keys WHERE exact_root != '')
              OR service IN (SELECT service FROM keys WHERE exact_root = ''))
    )
SELECT
    asked,
    sum(traces) AS seen,
    toUInt64(round(if(
        any(per_mille) < 0,
        sum(call_upstream_sum) / seen,
        1e6 * assumeNotNull(latency_quantile_ms(sumMap(call_upstream_latency), any(per_mille) / 1000))
    ))) AS upstream_ns
FROM paths
INNER JOIN keys USING (service)
WHERE root_service LIKE root AND root_operation LIKE operation AND window_ms + 1000 * window_s > from_ms
GROUP BY asked
HAVING seen >= {least:UInt64}
