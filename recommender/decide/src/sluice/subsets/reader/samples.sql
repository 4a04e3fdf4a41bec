-- The samples of the latency models: windows in which a container had `least` requests or more, at most `most` of a service.
-- The draw is the same for every reader.
SELECT
    toString(service) AS service,
    toUnixTimestamp(window) AS window_start_s,
    rate_per_s,
    cpu,
    memory_bandwidth,
    network,
    mu,
    sigma
FROM v_latency_samples_between(from_ms = {from_ms:Int64}, until_ms = {to_ms:Int64})
WHERE requests >= {least:UInt64}
ORDER BY service, cityHash64(window), cityHash64(instance, host)
LIMIT {most:UInt64} BY service
