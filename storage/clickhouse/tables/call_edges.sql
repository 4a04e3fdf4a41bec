-- Calls between services per 10 s of the callee's span end. Upserts, as `windows`. Those to a service with spans of its own
-- count before their trace is closed.
CREATE TABLE IF NOT EXISTS call_edges
(
    caller      LowCardinality(String),
    callee      LowCardinality(String),
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    calls       UInt64                      CODEC(T64, ZSTD(1)),
    errors      UInt64                      CODEC(T64, ZSTD(1)),
    latency     Map(Int16, UInt32)          COMMENT 'callee''s span durations, indexed as in windows' CODEC(ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (caller, callee, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
