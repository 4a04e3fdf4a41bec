-- What was asked of each server pool from {from_s} to {to_s}, which are whole tens of seconds: what its own spans completed,
-- and what its callers' CLIENT spans did, in time or not. A wait for one of its threads shows in those alone.
--
-- The table `keys`, sent with the query, is that of windows.sql: a pool's own part (judges = 0) and its judges'.
SELECT
    toUInt32(pool)                                AS pool,
    toUInt64(sumIf(completions, judges = 0))      AS done,
    toUInt64(sumIf(completions, judges = 1))      AS asked,
    toUInt64(sumIf(good, judges = 1))             AS good,
    toUInt64(uniqExactIf(instance, judges = 0))   AS instances
FROM
(
    SELECT
        pool, judges, instance, completions,
        arraySum((i, n) -> if(i <= last_good, n, 0), mapKeys(latency), mapValues(latency)) AS good
    FROM
    (
        SELECT cityHash64(side, if(side = 'server', service, peer)) AS part, instance, completions, latency
        FROM windows_10s FINAL
        PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64})
          AND bucket_ms = {bucket_ms:UInt16}
          AND (side, if(side = 'server', service, peer)) IN (SELECT side, if(side = 'server', service, peer) FROM keys)
    ) AS w
    INNER JOIN
    (
        SELECT pool, last_good, judges, cityHash64(side, if(side = 'server', service, peer)) AS part FROM keys
    ) AS k USING (part)
)
GROUP BY pool
