-- `windows_1s` per 10 s, made of windows_1s as windows_1s is made of `windows` (there are the details).
CREATE TABLE IF NOT EXISTS windows_10s
(
    side         Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    service      LowCardinality(String),
    peer         LowCardinality(String)     COMMENT 'empty for side = server',
    instance     LowCardinality(String),
    start        DateTime('UTC')            COMMENT 'start of the 10 s' CODEC(Delta, ZSTD(1)),
    bucket_ms    UInt16                     COMMENT 'length of the fine windows behind it' CODEC(ZSTD(1)),
    busy_ns      UInt64                     COMMENT 'sum of the fine windows; by the length: mean concurrency' CODEC(T64, ZSTD(1)),
    busy_buckets UInt32                     COMMENT 'fine windows with busy_ns > 0' CODEC(T64, ZSTD(1)),
    min_busy_ns  UInt64                     COMMENT 'of the fine windows with busy_ns > 0; 0 without one' CODEC(T64, ZSTD(1)),
    max_busy_ns  UInt64                     COMMENT 'of the fine windows; by bucket_ms: highest concurrency' CODEC(T64, ZSTD(1)),
    completions  UInt64                     CODEC(T64, ZSTD(1)),
    errors       UInt64                     CODEC(T64, ZSTD(1)),
    latency      Map(Int16, UInt64)         COMMENT 'indexed as in windows' CODEC(ZSTD(1)),
    version      UInt64                     COMMENT 'sum of the fine windows'' versions' CODEC(T64, ZSTD(1)),
    seen         DateTime64(3, 'UTC')       COMMENT 'newest `written` of the windows_1s rows in it' CODEC(Delta, ZSTD(1)),
    written      DateTime64(3, 'UTC')       DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    INDEX seen_range seen TYPE minmax GRANULARITY 1,
    INDEX written_range written TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(start)
ORDER BY (side, service, peer, instance, bucket_ms, start)
TTL start + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS fill_windows_10s
REFRESH EVERY 10 SECOND APPEND TO windows_10s
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
WITH
    (SELECT max(seen) FROM windows_10s WHERE seen >= now64(3) - INTERVAL 1 DAY) AS newest_of_a_day,
    (SELECT max(seen) FROM windows_10s WHERE toUnixTimestamp(newest_of_a_day) = 0) AS newest_of_all,
    greatest(newest_of_a_day, newest_of_all) - INTERVAL 60 SECOND AS since
SELECT
    s.side AS side,
    s.service AS service,
    s.peer AS peer,
    s.instance AS instance,
    toStartOfInterval(s.start, INTERVAL 10 SECOND) AS start,
    s.bucket_ms AS bucket_ms,
    sum(s.busy_ns) AS busy_ns,
    sum(s.busy_buckets) AS busy_buckets,
    minIf(s.min_busy_ns, s.busy_buckets > 0) AS min_busy_ns,
    max(s.max_busy_ns) AS max_busy_ns,
    sum(s.completions) AS completions,
    sum(s.errors) AS errors,
    sumMap(s.latency) AS latency,
    sum(s.version) AS version,
    max(s.written) AS seen
FROM windows_1s AS s FINAL
WHERE s.start >= (SELECT toStartOfInterval(min(start), INTERVAL 10 SECOND) FROM windows_1s WHERE written > since)
    AND s.start < (SELECT toStartOfInterval(max(start), INTERVAL 10 SECOND) + INTERVAL 10 SECOND FROM windows_1s WHERE written > since)
    AND (s.side, s.service, s.peer, s.instance, s.bucket_ms, toStartOfInterval(s.start, INTERVAL 10 SECOND)) IN
        (SELECT side, service, peer, instance, bucket_ms, toStartOfInterval(start, INTERVAL 10 SECOND) FROM windows_1s WHERE written > since)
GROUP BY side, service, peer, instance, start, bucket_ms
HAVING seen > since
    AND (side, service, peer, instance, bucket_ms, start, version, seen) NOT IN
        (SELECT side, service, peer, instance, bucket_ms, start, version, seen FROM windows_10s WHERE seen > since)
ORDER BY seen
SETTINGS max_threads = 1, max_insert_threads = 1,
    max_bytes_before_external_group_by = 268435456, max_bytes_before_external_sort = 268435456;
