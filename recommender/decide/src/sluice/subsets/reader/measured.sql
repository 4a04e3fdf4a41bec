-- The processing time of each service's requests in the windows that start in [from_s, to_s): the measured 95th percentile over all
-- its containers, the number of requests, and the start and end of their windows.
SELECT
    toString(service) AS service,
    latency_quantile_ms(sumMap(latency), 0.95) AS p95_ms,
    sum(requests) AS requests,
    toUnixTimestamp(min(window)) AS since_s,
    max(toUnixTimestamp(window) + window_s) AS until_s
FROM container_own_time FINAL
WHERE window >= fromUnixTimestamp({from_s:Int64}) AND window < fromUnixTimestamp({to_s:Int64})
GROUP BY service
ORDER BY service
