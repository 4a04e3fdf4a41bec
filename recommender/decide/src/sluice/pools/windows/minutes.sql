-- The minutes from {from_s} to {to_s} of pools: requests in flight in the busiest instance, as a mean over the minute, and response
-- times, by the spans that judge the pool where there are any, else by its own. Minutes with less than {least} completions are left
-- out.
--
-- The table `keys`, sent with the query: a pool's own part (judges = 0) and its judges' (1), as in windows.sql.
SELECT
    pool, minute_s, held_ns,
    toUInt64(round(1e6 * assumeNotNull(latency_quantile_ms(seen, 0.95)))) AS p95_ns,
    toUInt64(round(1e6 * assumeNotNull(latency_quantile_ms(seen, 0.99)))) AS p99_ns
FROM
(
    SELECT
        toUInt32(pool)                            AS pool,
        toInt64(toUnixTimestamp(start))           AS minute_s,
        toUInt64(maxIf(busy_ns, judges = 0))      AS held_ns,
        sumMapIf(latency, judges = 0)             AS own,
        sumMapIf(latency, judges = 1)             AS judged,
        if(empty(judged), own, judged)            AS seen
    FROM
    (
        SELECT
            arrayJoin([cityHash64(0, side, service, peer), cityHash64(1, side, if(side = 'server', service, peer))]) AS part,
            start, busy_ns, latency
        FROM windows_1m FINAL
        PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64})
          AND bucket_ms = {bucket_ms:UInt16}
          AND ((side, service) IN (SELECT side, service FROM keys WHERE service != '')
              OR (side = 'client' AND peer IN (SELECT peer FROM keys WHERE judges = 1 AND side = 'client')))
    ) AS w
    INNER JOIN
    (
        SELECT
            pool, judges,
            if(judges = 0, cityHash64(0, side, service, peer), cityHash64(1, side, if(side = 'server', service, peer))) AS part
        FROM keys
    ) AS k USING (part)
    GROUP BY pool, start
)
WHERE held_ns > 0 AND arraySum(mapValues(seen)) >= {least:UInt64}
ORDER BY pool, minute_s
