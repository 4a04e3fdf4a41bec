-- The newest notifications of each service, oldest first.
SELECT service, toUnixTimestamp64Milli(at) AS at_ms, cpu_limit_cores, replicas, version, source
FROM
(
    SELECT *
    FROM scaling_events FINAL
    ORDER BY service, at DESC
    LIMIT 64 BY service
)
ORDER BY service, at
