-- How many pools, services and spans have windows in [{from_ms}, {until_ms}) (Unix time), and the longest bucket.
SELECT
    uniqExact(side, service, peer) AS pools,
    uniqExact(service)             AS services,
    sum(completions)               AS spans,
    max(bucket_ms)                 AS longest_ms
FROM v_windows_10s
WHERE start >= fromUnixTimestamp(intDiv({from_ms:Int64}, 1000)) AND start < fromUnixTimestamp(intDiv({until_ms:Int64}, 1000))
