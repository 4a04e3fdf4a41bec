-- How long each service's requests took of its own in the windows that start in [from_s, to_s): the 95th percentile over all
-- of its containers, as it was measured, and of how many requests, from when to when.
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
