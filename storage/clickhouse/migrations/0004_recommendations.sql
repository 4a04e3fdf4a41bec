-- Every answer of every control period, written by the recommender: append-only. A write that is retried may store
-- a row twice: equal rows become one when merged, and are one in the views.
CREATE TABLE IF NOT EXISTS recommendations
(
    service          LowCardinality(String),
    side             Enum8('server' = 1, 'client' = 2),
    peer             LowCardinality(String),
    at               DateTime64(3, 'UTC')   CODEC(Delta, ZSTD(1)),
    state            LowCardinality(String) COMMENT 'name of sluice.v1.State',
    current          Nullable(UInt32),
    target           Nullable(UInt32),
    lower_bound      Nullable(UInt32),
    upper_bound      Nullable(UInt32),
    unguarded_target Nullable(UInt32),
    confidence       Float32,
    threshold_ms     Float64,
    model            LowCardinality(String),
    reasons          Array(LowCardinality(String)) COMMENT 'codes',
    buckets          UInt32                 COMMENT 'samples behind the estimate',
    newest_bucket    Nullable(DateTime64(3, 'UTC')) COMMENT 'end of the data that the estimate saw',
    valid_until      DateTime64(3, 'UTC'),
    revision         UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (service, side, peer, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
