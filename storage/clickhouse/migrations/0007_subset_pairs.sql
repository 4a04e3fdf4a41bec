-- The latency that each run of the solver of subsets predicts for each pair of services: append-only. Latencies are the percentile of
-- the downstream service's own time, as in container_own_time; NULL before one was measured.
CREATE TABLE IF NOT EXISTS subset_pairs
(
    application        LowCardinality(String),
    upstream           LowCardinality(String),
    downstream         LowCardinality(String),
    at                 DateTime64(3, 'UTC') COMMENT 'time of the record' CODEC(Delta, ZSTD(1)),
    percentile         Float64              COMMENT '0..1' CODEC(ZSTD(1)),
    predicted_ms       Nullable(Float64)    COMMENT 'of the plan' CODEC(ZSTD(1)),
    best_ms            Nullable(Float64)    COMMENT 'with an unlimited number of connections' CODEC(ZSTD(1)),
    fully_connected_ms Nullable(Float64)    COMMENT 'of a full mesh with equal shares' CODEC(ZSTD(1)),
    quota              UInt32               COMMENT 'connections' CODEC(T64, ZSTD(1)),
    least              UInt32               COMMENT 'connections with the smallest subsets that reach every container' CODEC(T64, ZSTD(1)),
    most               UInt32               COMMENT 'connections of a full mesh' CODEC(T64, ZSTD(1)),
    rate_per_s         Float64              COMMENT 'calls' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (application, upstream, downstream, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
