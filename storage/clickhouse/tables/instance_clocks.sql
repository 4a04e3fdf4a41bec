-- Delay between a span's end and its arrival on the topic, for each instance and window of the broker's time: the transport time,
-- less how far the instance's clock is ahead of the broker's. Upserts, as `windows`.
CREATE TABLE IF NOT EXISTS instance_clocks
(
    service     LowCardinality(String),
    instance    LowCardinality(String),
    window      DateTime('UTC')             COMMENT 'of their arrival, by the broker''s clock' CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    spans       UInt64                      CODEC(T64, ZSTD(1)),
    least_ms    Int64                       COMMENT 'least of their delays; below 0: the clock is certainly ahead' CODEC(T64, ZSTD(1)),
    sum_ms      Int64                       COMMENT 'sum of their delays' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (service, instance, window_s, window)
TTL window + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1;
