-- Critical paths per root operation and way that they took, per 10 s of the root span's end.
-- Written by the job `critical_paths` as upserts; `version` is the number of traces summed so far, as in `windows`.
CREATE TABLE IF NOT EXISTS critical_paths
(
    root_service     LowCardinality(String),
    root_operation   LowCardinality(String),
    complete         Bool                       COMMENT 'false: the root is an orphan, its parent never came',
    signature        LowCardinality(String)     COMMENT 'services on the path in the order in which the request reaches them: a > b > c; beyond 1,000 bytes cut, with a hash of the whole',
    window_s         UInt16                     CODEC(ZSTD(1)),
    window           DateTime('UTC')            CODEC(Delta, ZSTD(1)),
    traces           UInt64                     CODEC(T64, ZSTD(1)),
    sum_ns           UInt64                     COMMENT 'sum of end to end times' CODEC(T64, ZSTD(1)),
    sum_ns2          UInt128                    COMMENT 'sum of their squares, exact; at most 10^38 - 1' CODEC(ZSTD(1)),
    latency          Map(Int16, UInt32)         COMMENT 'end to end times, indexed as in windows' CODEC(ZSTD(1)),
    slowest_ns       UInt64                     CODEC(T64, ZSTD(1)),
    slowest_trace_id String                     COMMENT 'hexadecimal; of equally slow traces the largest id' CODEC(ZSTD(1)),
    median_trace_id  String                     COMMENT 'a trace in the latency bucket of the median' CODEC(ZSTD(1)),
    version          UInt64                     CODEC(T64, ZSTD(1)),
    written          DateTime64(3, 'UTC')       DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (root_service, root_operation, complete, signature, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
