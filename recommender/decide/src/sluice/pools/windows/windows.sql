-- What was written since the last reading to the windows of every pool: one row for each source (an instance of a service)
-- of each pool, with its buckets as arrays. So a result has as many rows as there are sources, however many buckets.
--
-- A row has two parts: of its own pool (judges = 0), and as a judge one level up (judges = 1), where the wait for the pool shows.
-- CLIENT spans towards S judge the server pool of S; SERVER spans of S judge every client pool of S.
-- The table `keys`, sent with the query, has the pools of each part: pool, last_good, judges, side, service, peer.
--
-- New rows came with an insert after number {seen}, or lie in buckets from {before_ms} on, which the last reading did not cover.
-- PREWHERE is applied before FINAL: that leaves one version of each row, the largest of the new ones. An older one that is written
-- again is smaller than the reader's. Rows that a correction emptied are new too.
--
-- Where clocks are {off}, {clocks} names them, and {ahead} is how many ms they are ahead, in whole buckets: buckets are numbered by a
-- correct clock. `clock_of` in query.py gives the numbers of both.
--
-- For few pools, the primary key leaves out most of the table; for {many}, a test of each row costs more than it saves.
SELECT
    toUInt32(pool)          AS pool,
    toUInt8(judges)         AS judges,
    source,
    max(block)              AS newest,
    groupArray(at)          AS at,
    groupArray(busy_ns)     AS busy_ns,
    groupArray(completions) AS completions,
    groupArray(errors)      AS errors,
    groupArray(good)        AS good,
    groupArray(version)     AS version
FROM
(
    SELECT
        pool, judges, if(judges = 0, own_source, judge_source) AS source, block, at, busy_ns, completions, errors, version,
        toUInt32(arraySum((i, n) -> if(i <= last_good, n, 0), mapKeys(latency), mapValues(latency))) AS good
    FROM
    (
        WITH if({off:Bool},
            transform(3 * CAST(halfMD5(service), 'UInt64') + CAST(halfMD5(instance), 'UInt64'),
                {clocks:Array(UInt64)}, {ahead:Array(Int64)}, toInt64(0)), toInt64(0)) AS ahead_ms
        SELECT
            -- Hashes of 64 bits stand for names: of 100,000 names, two have the same hash once in 10^9 databases.
            arrayJoin([cityHash64(0, side, service, peer), cityHash64(1, side, if(side = 'server', service, peer))]) AS part,
            halfMD5(instance) AS own_source, -- the same as `source_of` in query.py
            cityHash64(service, peer, instance) AS judge_source,
            toUInt32(intDiv(toUnixTimestamp64Milli(bucket) - ahead_ms, {bucket_ms:UInt16}) - {first:Int64}) AS at,
            toUInt64(_block_number) AS block,
            busy_ns, completions, errors, latency, version
        FROM windows FINAL
        PREWHERE bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
          AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND bucket_ms = {bucket_ms:UInt16}
          AND (NOT {off:Bool} OR (toUnixTimestamp64Milli(bucket) - ahead_ms >= {first_ms:Int64}
              AND toUnixTimestamp64Milli(bucket) - ahead_ms < {until_ms:Int64}))
          AND (_block_number > {seen:Int64} OR toUnixTimestamp64Milli(bucket) - ahead_ms >= {before_ms:Int64})
          AND ({many:Bool}
              OR (side, service) IN (SELECT side, service FROM keys WHERE service != '')
              OR (side = 'client' AND peer IN (SELECT peer FROM keys WHERE judges = 1 AND side = 'client')))
    ) AS w
    INNER JOIN
    (
        SELECT
            pool, last_good, judges,
            if(judges = 0, cityHash64(0, side, service, peer), cityHash64(1, side, if(side = 'server', service, peer))) AS part
        FROM keys
    ) AS k USING (part)
)
GROUP BY pool, judges, source
