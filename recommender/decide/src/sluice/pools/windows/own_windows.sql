-- What was written since the last reading to the windows of pools without judges: as windows.sql, of their own rows alone, without
-- latencies and completions in time. For {callees}, a pool is all that its service calls, and a source a peer and an instance.
--
-- The pools are of some {sides}, and of services from {least} to {most}. Of one side that is a stretch of the primary key, so several
-- queries, of some of the pools each, read no row twice. The table `keys` names the services, and is joined to sources, not to rows.
SELECT
    toUInt32(pool)  AS pool,
    source,
    newest,
    at,
    busy_ns,
    completions,
    errors,
    version
FROM
(
    SELECT
        side,
        service,
        if({callees:Bool}, '', peer) AS called,
        -- Of an instance, the same as `source_of` in query.py.
        if({callees:Bool}, cityHash64(peer, instance), CAST(halfMD5(instance), 'UInt64')) AS source,
        toUInt64(max(block))          AS newest,
        groupArray(at)                AS at,
        groupArray(w.busy_ns)         AS busy_ns,
        groupArray(w.completions)     AS completions,
        groupArray(w.errors)          AS errors,
        groupArray(w.version)         AS version
    FROM
    (
        WITH if({off:Bool},
            transform(3 * CAST(halfMD5(service), 'UInt64') + CAST(halfMD5(instance), 'UInt64'),
                {clocks:Array(UInt64)}, {ahead:Array(Int64)}, toInt64(0)), toInt64(0)) AS ahead_ms
        SELECT
            side, service, peer, instance, busy_ns, completions, errors, version, _block_number AS block,
            toUInt32(intDiv(toUnixTimestamp64Milli(bucket) - ahead_ms, {bucket_ms:UInt16}) - {first:Int64}) AS at
        FROM windows FINAL
        PREWHERE side IN {sides:Array(String)} AND service >= {least:String} AND service <= {most:String}
          AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
          AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
          AND bucket_ms = {bucket_ms:UInt16}
          AND (NOT {off:Bool} OR (toUnixTimestamp64Milli(bucket) - ahead_ms >= {first_ms:Int64}
              AND toUnixTimestamp64Milli(bucket) - ahead_ms < {until_ms:Int64}))
          AND (_block_number > {seen:Int64} OR toUnixTimestamp64Milli(bucket) - ahead_ms >= {before_ms:Int64})
        WHERE (side, service) IN (SELECT side, service FROM keys)
    ) AS w
    GROUP BY side, service, peer, instance
) AS sources
INNER JOIN (SELECT pool, side, service, peer AS called FROM keys) AS asked USING (side, service, called)
