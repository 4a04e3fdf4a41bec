-- Own concurrency and the judges' completions of every pool, per bucket, in one pass over the newest windows.
--
-- A row plays two parts: of its own pool (judges = 0), and as a judge one level up (judges = 1), where the wait for
-- the pool shows: CLIENT spans towards S judge the server pool of S; SERVER spans of S judge every client pool of S.
-- `keys` says which pools a part belongs to.
WITH
    keys AS
    (
        SELECT k.1 AS pool, k.2 AS last_good, (k.3, k.4, k.5, k.6) AS part
        FROM (SELECT arrayJoin({keys:Array(Tuple(UInt32, Int16, UInt8, String, String, String))}) AS k)
    ),
    parts AS
    (
        SELECT
            arrayJoin([
                (toUInt8(0), toString(side), toString(service), toString(peer)),
                (toUInt8(1), toString(side), if(side = 'server', toString(service), ''), if(side = 'client', toString(peer), ''))
            ]) AS part,
            instance, bucket, busy_ns, completions, latency
        FROM windows FINAL
        WHERE bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
          AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND bucket_ms = {bucket_ms:UInt16}
          AND (busy_ns > 0 OR completions > 0)  -- what is left of a row whose spans moved to their true peer is none
          AND ((side, service) IN {own:Array(Tuple(String, String))} OR (side = 'client' AND peer IN {callees:Array(String)}))
    )
SELECT
    pool,
    toUnixTimestamp64Milli(bucket)                                      AS bucket_start_ms,
    sumIf(busy_ns, part.1 = 0)                                          AS busy_ns,
    sumIf(completions, part.1 = 0)                                      AS own_completions,
    sumIf(good, part.1 = 0)                                             AS own_good,
    uniqExactIf(instance, part.1 = 0 AND p.busy_ns > 0)                 AS instances,
    sumIf(completions, part.1 = 1)                                      AS judge_completions,
    sumIf(good, part.1 = 1)                                             AS judge_good
FROM
(
    SELECT
        pool, part, instance, bucket, busy_ns, completions,
        arraySum((i, n) -> if(i <= last_good, n, 0), mapKeys(latency), mapValues(latency)) AS good
    FROM parts
    INNER JOIN keys USING (part)
) AS p
GROUP BY pool, bucket
ORDER BY pool, bucket
