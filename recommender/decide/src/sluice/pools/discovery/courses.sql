-- Seconds of some candidates and of their callers from {from_s} to {to_s} (Unix time). The table `keys`, sent with the query, has a
-- candidate's own part (judges = 0) and its judges' (1), as in demand.sql. `source` is the instance of own rows, and 0 for judges.
SELECT
    toUInt32(pool)                                   AS pool,
    toUInt8(judges)                                  AS judges,
    if(judges = 1, 0, CAST(halfMD5(instance), 'UInt64')) AS source,
    toUInt32(start)                                  AS at,
    toUInt64(sum(busy_ns))                           AS busy_ns,
    toUInt64(max(max_busy_ns))                       AS top_ns,
    toUInt64(sum(completions))                       AS completions
FROM
(
    SELECT
        arrayJoin(if(side = 'client', [cityHash64('to', peer), cityHash64('of', service, peer)],
            [cityHash64(toString(side), service)])) AS part,
        instance, start, busy_ns, max_busy_ns, completions
    FROM windows_1s FINAL
    PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64}) AND bucket_ms = {bucket_ms:UInt16}
      AND ((side, service) IN (SELECT side, service FROM keys WHERE service != '')
          OR (side = 'client' AND peer IN (SELECT peer FROM keys WHERE service = '')))
) AS w
INNER JOIN
(
    SELECT
        pool, judges,
        multiIf(side != 'client', cityHash64(toString(side), service), service = '', cityHash64('to', peer),
            cityHash64('of', service, peer)) AS part
    FROM keys
) AS k USING (part)
GROUP BY pool, judges, source, at
