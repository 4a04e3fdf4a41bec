-- The services on the critical paths of each root operation as the decider ranks them every 30 s over the newest minute, from the
-- recommender: append-only. Several deciders write the same times; the table keeps one row of each.
CREATE TABLE IF NOT EXISTS critical_services
(
    root_service     LowCardinality(String),
    root_operation   LowCardinality(String),
    service          LowCardinality(String),
    at               DateTime64(3, 'UTC')   CODEC(Delta, ZSTD(1)),
    rank             UInt8                  COMMENT '1: the most critical' CODEC(ZSTD(1)),
    critical         Bool                   COMMENT 'localization names it; false in all rows where no signal names one' CODEC(ZSTD(1)),
    traces           UInt64                 COMMENT 'of the root operation, in the minute' CODEC(T64, ZSTD(1)),
    p95_ms           Nullable(Float64)      COMMENT 'of the root operation' CODEC(ZSTD(1)),
    share_of_p95     Nullable(Float64)      COMMENT 'part of it that is the blame of the service, 0..1' CODEC(ZSTD(1)),
    blame_ms         Float64                COMMENT 'mean over the traces that lead through the service' CODEC(ZSTD(1)),
    correlation      Nullable(Float64)      COMMENT 'of blame and end to end time' CODEC(ZSTD(1)),
    congestion_ratio Nullable(Float64)      COMMENT 'p99 of the blame by its p50' CODEC(ZSTD(1)),
    reasons          Array(LowCardinality(String)) COMMENT 'codes' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (root_service, root_operation, service, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
