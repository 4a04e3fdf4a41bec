-- What `windows.sql` must amount to, without memory: own concurrency and the judges' completions of every pool, per bucket,
-- from all rows of the window as they stand. `keys`: pool, last_good, judges, side, service, peer.
WITH
    parts AS
    (
        SELECT
            arrayJoin([
                (toUInt8(0), toString(side), toString(service), toString(peer)),
                (toUInt8(1), toString(side), if(side = 'server', toString(service), ''), if(side = 'client', toString(peer), ''))
            ]) AS part,
            bucket, busy_ns, completions, latency
        FROM windows FINAL
        WHERE bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
          AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND bucket_ms = {bucket_ms:UInt16}
          AND (busy_ns > 0 OR completions > 0)  -- what is left of a row whose spans moved to their true peer is none
          AND (
              (side, service) IN (SELECT side, service FROM keys WHERE service != '')
              OR (side = 'client' AND peer IN (SELECT peer FROM keys WHERE judges = 1 AND side = 'client')))
    )
SELECT
    toInt64(pool)                                           AS pool,
    toUnixTimestamp64Milli(bucket)                          AS bucket_start_ms,
    toInt64(sumIf(p.busy_ns, judges = 0))                   AS busy_ns,
    toInt64(sumIf(p.completions, judges = 0))               AS own_completions,
    toInt64(sumIf(good, judges = 0))                        AS own_good,
    toInt64(countIf(judges = 0 AND p.busy_ns > 0))          AS instances,  -- FINAL leaves one row an instance
    toInt64(sumIf(p.completions, judges = 1))               AS judge_completions,
    toInt64(sumIf(good, judges = 1))                        AS judge_good,
    toInt64(sumIf(p.busy_ns, judges = 1))                   AS judge_busy_ns
FROM
(
    SELECT
        pool, part.1 AS judges, bucket, busy_ns, completions,
        arraySum((i, n) -> if(i <= last_good, n, 0), mapKeys(latency), mapValues(latency)) AS good
    FROM parts
    INNER JOIN
    (
        SELECT pool, last_good, (judges, toString(side), service, peer) AS part FROM keys
    ) AS k USING (part)
) AS p
GROUP BY pool, bucket
ORDER BY pool, bucket
