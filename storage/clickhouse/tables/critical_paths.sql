-- Critical paths per root operation and sequence of services, per 10 s of the root span's end.
-- The job `critical_paths` upserts them; `version` is the number of traces summed so far, as in `windows`.
CREATE TABLE IF NOT EXISTS critical_paths
(
    root_service     LowCardinality(String),
    root_operation   LowCardinality(String),
    complete         Bool                       COMMENT 'false: the root is an orphan, whose parent never arrived',
    signature        LowCardinality(String)     COMMENT 'services on the path in the order of the request: a > b > c; cut to 1,000 bytes, with a hash of the full text',
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
