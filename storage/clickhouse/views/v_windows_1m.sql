-- Every soft resource per minute, with a longer retention than `windows`: concurrency is the time-weighted mean of requests in flight,
-- lowest and highest are of its windows, where one without work counts as 0.
CREATE OR REPLACE VIEW v_windows_1m AS
SELECT
    * EXCEPT (min_busy_ns, max_busy_ns, latency, version, seen, written),
    busy_ns / 60e9 AS concurrency,
    if(busy_buckets * bucket_ms < 60000, 0, min_busy_ns / (bucket_ms * 1e6)) AS lowest_concurrency,
    max_busy_ns / (bucket_ms * 1e6) AS highest_concurrency,
    latency,
    version,
    written
FROM windows_1m FINAL
WHERE busy_ns > 0 OR completions > 0
