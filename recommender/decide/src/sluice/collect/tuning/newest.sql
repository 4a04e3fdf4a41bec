-- The end of the newest second, or window, that anything was seen in since `from_ms`, Unix seconds; 0 where nothing was.
SELECT
    (
        SELECT toUnixTimestamp(toDateTime(max(bucket), 'UTC'))
        FROM windows
        WHERE side = 'server' AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    ) AS windows_s,
    (
        SELECT toUnixTimestamp(max(window)) FROM critical_paths WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    ) AS paths_s
