-- Latency of each container's own requests (SERVER and CONSUMER spans) per window of their end: the samples for the fit of a
-- log-normal distribution. Upserts, as `windows`. Read through v_container_latency.
CREATE TABLE IF NOT EXISTS container_latency
(
    service     LowCardinality(String),
    instance    LowCardinality(String),
    host        LowCardinality(String)      COMMENT 'empty: unknown',
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    requests    UInt64                      CODEC(T64, ZSTD(1)),
    errors      UInt64                      COMMENT 'requests that failed by no fault of their caller' CODEC(T64, ZSTD(1)),
    ln_sum      Int64                       COMMENT 'sum of round(1e9 * ln(ns)); 0 ns counts as 1 ns' CODEC(T64, ZSTD(1)),
    ln_sum2     Int64                       COMMENT 'sum of round(1e9 * ln(ns)^2)' CODEC(T64, ZSTD(1)),
    latency     Map(Int16, UInt32)          COMMENT 'requests by duration, indexed as in windows' CODEC(ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (service, instance, host, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
