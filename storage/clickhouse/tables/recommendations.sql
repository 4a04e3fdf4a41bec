-- Decisions of every period, from the recommender: append-only. A repeated write may store a row twice: ClickHouse merges equal
-- rows, and views show one. `basis` is what a decision rests on. Actuators read only `action`, the target and the lease. `advice`
-- is on the hardware under the pool; empty: none.
CREATE TABLE IF NOT EXISTS recommendations
(
    service          LowCardinality(String),
    side             Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    peer             LowCardinality(String),
    at               DateTime64(3, 'UTC')   CODEC(Delta, ZSTD(1)),
    state            LowCardinality(String) COMMENT 'name of sluice.pools.v1.State, without its prefix',
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
    newest_bucket    Nullable(DateTime64(3, 'UTC')) COMMENT 'end of the data behind the estimate',
    valid_until      DateTime64(3, 'UTC'),
    revision         UInt64,
    basis            LowCardinality(String) COMMENT 'name of sluice.pools.v1.Basis, without its prefix',
    action           LowCardinality(String) COMMENT 'HOLD or APPLY',
    advice           LowCardinality(String) COMMENT 'name of sluice.pools.v1.Advice.Kind, without its prefix',
    advised_cores    Nullable(Float64)      COMMENT 'CPU limit of one instance that meets the demand',
    advised_replicas Nullable(UInt32)       COMMENT 'that meet the demand',
    asked_per_s      Nullable(Float64)      COMMENT 'ended calls of one instance, over a minute',
    in_time          Nullable(Float64)      COMMENT 'part of these in time, 0..1; NULL: no caller''s spans show it',
    best_per_s       Nullable(Float64)      COMMENT 'expected completions of the best size'
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (service, side, peer, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
