-- What spans show from {from_s} to {to_s} (Unix time): each service, side and peer, with the most in flight first. `steadiest` is the
-- largest mean of 10 s by the highest bucket, of the instance where that ratio is largest: near 1 where a pool may bound it. `top` is the highest bucket of an instance.
SELECT
    toString(service)                                    AS service,
    toString(side)                                       AS side,
    toString(peer)                                       AS peer,
    sum(held_ns) / 1e9 / ({to_s:Int64} - {from_s:Int64}) AS concurrency,
    count()                                              AS instances,
    max(ratio)                                           AS steadiest,
    max(highest)                                         AS top
FROM
(
    SELECT
        service, side, peer, instance,
        sum(busy_ns)                                    AS held_ns,
        max(max_busy_ns) / {bucket_ms:UInt16} / 1e6     AS highest,
        max(busy_ns) / 1e10 / greatest(highest, 1e-9)   AS ratio
    FROM windows_10s FINAL
    PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64}) AND bucket_ms = {bucket_ms:UInt16}
    WHERE busy_ns > 0 OR completions > 0
    GROUP BY service, side, peer, instance
)
GROUP BY service, side, peer
ORDER BY concurrency DESC, service, side, peer
LIMIT {most:UInt32}
