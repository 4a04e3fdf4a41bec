-- Windows of every soft resource: one row per (service, side, peer, instance, bucket).
-- The job `concurrency` upserts them. `version` counts the contributions summed so far, and only grows: a replay ends in the same
-- row. Read through v_windows (or FINAL).
-- CONSUMER spans have a side of their own, since the threads of messages are not those of requests.
-- Rows keep the number of their insert (`_block_number`) in merges. ClickHouse assigns numbers as inserts become visible: a reader
-- that has all up to N asks for later ones and misses none, however late or long an insert is. No clock gives that. The recommender
-- reads in this way once a period. `written_range` lets the rollups skip parts with only older rows.
CREATE TABLE IF NOT EXISTS windows
(
    side        Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    service     LowCardinality(String),
    peer        LowCardinality(String)      COMMENT 'empty for side = server',
    instance    LowCardinality(String),
    bucket      DateTime64(3, 'UTC')        COMMENT 'start of the bucket' CODEC(Delta, ZSTD(1)),
    bucket_ms   UInt16                      COMMENT 'length of the bucket' CODEC(ZSTD(1)),
    busy_ns     UInt64                      COMMENT 'sum over spans of overlap(span, bucket)' CODEC(T64, ZSTD(1)),
    completions UInt32                      COMMENT 'spans that end in the bucket' CODEC(T64, ZSTD(1)),
    errors      UInt32                      COMMENT 'completions that failed by no fault of their caller' CODEC(T64, ZSTD(1)),
    latency     Map(Int16, UInt32)          COMMENT 'completions by duration: index i counts 2^(i/64) < ns <= 2^((i+1)/64); 0 ns counts as 1 ns' CODEC(ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    INDEX written_range written TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(bucket)
ORDER BY (side, service, peer, instance, bucket_ms, bucket)
TTL toDateTime(bucket) + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1, enable_block_number_column = 1;
