-- Fine windows of every soft resource: one row per (service, side, peer, instance, bucket).
-- Written by the job `concurrency` as upserts; `version` counts the contributions summed so far, which
-- only grows, so whatever is replayed ends in the same row. Read through v_windows (or FINAL).
-- CONSUMER spans are a side of their own: threads that work on messages are no threads that serve requests.
-- Rows keep the number of the insert they came with (`_block_number`) when parts are merged. Numbers are given out as inserts
-- become visible, so a reader that has all up to N asks for those above N and misses none, however late they are or however
-- long an insert took, which no clock promises. The recommender reads so, once a period. By `written_range` the rollups
-- leave out, unread, parts whose rows are all older than what they ask for.
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
    errors      UInt32                      COMMENT 'of those, that failed by no fault of their caller' CODEC(T64, ZSTD(1)),
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
