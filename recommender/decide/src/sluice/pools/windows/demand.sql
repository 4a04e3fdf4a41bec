-- The demand on each pool from {from_s} to {to_s}, which are whole tens of seconds, and its callers: completions and busy time of the
-- pool's own spans and of the spans of its callers, in time or not. Only the latter show a wait for the pool: callers' CLIENT spans for
-- the threads of a service, the service's SERVER spans for its connections.
--
-- The table `keys`, sent with the query: a pool's own part (judges = 0), its judges' (1), and for a client pool all CLIENT spans of
-- its service (2), since a request's wait in them is no wait for this pool. `part` names them: `server S`, `to P` (CLIENT spans of any
-- service), `of S` (CLIENT spans to any service), `S to P`.
SELECT
    toUInt32(pool)                                AS pool,
    toUInt64(sumIf(completions, judges = 0))      AS done,
    toUInt64(sumIf(completions, judges = 1))      AS asked,
    toUInt64(sumIf(good, judges = 1))             AS good,
    toUInt64(uniqExactIf(instance, judges = 0))   AS instances,
    toUInt64(sumIf(busy_ns, judges = 0))          AS held_ns,
    toUInt64(sumIf(busy_ns, judges = 1))          AS judges_held_ns,
    toUInt64(sumIf(busy_ns, judges = 2))          AS calls_held_ns
FROM
(
    SELECT
        pool, judges, instance, completions, busy_ns,
        arraySum((i, n) -> if(i <= last_good, n, 0), mapKeys(latency), mapValues(latency)) AS good
    FROM
    (
        SELECT
            arrayJoin(if(side = 'server', [cityHash64('server', service)],
                [cityHash64('to', peer), cityHash64('of', service), cityHash64('of', service, peer)])) AS part,
            instance, completions, latency, busy_ns
        FROM windows_10s FINAL
        PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64})
          AND bucket_ms = {bucket_ms:UInt16} AND side IN ('server', 'client')
          AND ((side, service) IN (SELECT side, service FROM keys WHERE service != '')
              OR (side = 'client' AND peer IN (SELECT peer FROM keys WHERE service = '')))
    ) AS w
    INNER JOIN
    (
        SELECT
            pool, last_good, judges,
            multiIf(side = 'server', cityHash64('server', service), service = '', cityHash64('to', peer),
                judges = 2, cityHash64('of', service), cityHash64('of', service, peer)) AS part
        FROM keys
    ) AS k USING (part)
)
GROUP BY pool
