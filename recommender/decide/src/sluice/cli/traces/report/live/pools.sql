-- The windows of the {most} most loaded pools and of the spans that judge them, in [{from_ms}, {until_ms}) (Unix time), one row for each
-- instance, with its buckets of 100 ms in order. threshold_ms 0: every completion is in time. Rollups choose the pools.
WITH
    fromUnixTimestamp64Milli({from_ms:Int64}) AS since,
    fromUnixTimestamp64Milli({until_ms:Int64}) AS before,
    chosen AS
    (
        SELECT side, service, peer
        FROM v_windows_10s
        WHERE start >= toDateTime(since) - 10 AND start < before
        GROUP BY side, service, peer
        ORDER BY sum(busy_ns) DESC, service, side, peer
        LIMIT {most:UInt32}
    )
SELECT
    service,
    side,
    peer,
    instance,
    (side, service, peer) IN (SELECT toString(side), toString(service), toString(peer) FROM chosen) AS shown,
    groupArray(number)  AS buckets,
    groupArray(busy)    AS busy_ns,
    groupArray(ended)   AS completions,
    groupArray(failed)  AS errors,
    groupArray(timely)  AS in_time,
    latency_quantile_ms(sumMap(histogram), 0.5)  AS p50_ms,
    latency_quantile_ms(sumMap(histogram), 0.99) AS p99_ms
FROM
(
    SELECT
        toString(w.service)                         AS service,
        toString(w.side)                            AS side,
        toString(w.peer)                            AS peer,
        toString(w.instance)                        AS instance,
        intDiv(toUnixTimestamp64Milli(bucket), 100) AS number,
        sum(w.busy_ns)                              AS busy,
        sum(w.completions)                          AS ended,
        sum(w.errors)                               AS failed,
        if({threshold_ms:Float64} = 0, ended, sum(latency_within(w.latency, greatest({threshold_ms:Float64}, 1e-6)))) AS timely,
        sumMap(w.latency)                           AS histogram
    FROM v_windows AS w
    WHERE bucket >= since AND bucket < before AND bucket_ms <= 100
        AND ((w.side, w.service, w.peer) IN chosen
            OR w.side = 'client' AND w.peer IN (SELECT service FROM chosen WHERE side = 'server')
            OR w.side = 'server' AND w.service IN (SELECT service FROM chosen WHERE side = 'client'))
    GROUP BY service, side, peer, instance, number
    ORDER BY number
)
GROUP BY service, side, peer, instance
