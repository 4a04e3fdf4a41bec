-- How long after their ends the spans of each instance came into the log, per window of the log's time: what the way takes, less
-- what the instance's clock is ahead of the broker's. Upserts, as `windows`.
CREATE TABLE IF NOT EXISTS instance_clocks
(
    service     LowCardinality(String),
    instance    LowCardinality(String),
    window      DateTime('UTC')             COMMENT 'in which they came, by the broker''s clock' CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    spans       UInt64                      CODEC(T64, ZSTD(1)),
    least_ms    Int64                       COMMENT 'least of their delays; below 0 the clock is ahead for sure' CODEC(T64, ZSTD(1)),
    sum_ms      Int64                       COMMENT 'sum of their delays' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (service, instance, window_s, window)
TTL window + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1;
