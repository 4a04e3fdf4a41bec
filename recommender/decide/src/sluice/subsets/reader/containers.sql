-- Containers that had requests in the windows that reach beyond `from_s`, and the end of the newest window of all.
SELECT
    toString(service) AS service,
    toString(instance) AS instance,
    toString(argMax(host, window)) AS last_host,
    sum(requests) AS requests,
    toUnixTimestamp(min(window)) AS first_s,
    max(toUnixTimestamp(window) + window_s) AS last_s
FROM container_latency FINAL
WHERE window > fromUnixTimestamp({from_s:Int64}) AND window <= fromUnixTimestamp({to_s:Int64})
GROUP BY service, instance
ORDER BY service, instance
