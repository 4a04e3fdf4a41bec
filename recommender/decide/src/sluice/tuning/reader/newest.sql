-- Since `from_ms`, in seconds of Unix time, 0 where there is nothing: the end of the newest second, or window, of any
-- service, and the time at which the last of them was written.
WITH
    of_windows AS
    (
        SELECT max(bucket) AS newest, max(written) AS last
        FROM windows
        WHERE side = 'server' AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    ),
    of_paths AS
    (
        SELECT max(window) AS newest, max(written) AS last
        FROM critical_paths
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    )
SELECT
    toUnixTimestamp(toDateTime(w.newest, 'UTC')) AS windows_s, toUnixTimestamp(toDateTime(w.last, 'UTC')) AS windows_written_s,
    toUnixTimestamp(p.newest) AS paths_s, toUnixTimestamp(toDateTime(p.last, 'UTC')) AS paths_written_s
FROM of_windows AS w, of_paths AS p
