-- Every answer of every control period, written by the recommender: append-only. A write that is retried may store
-- a row twice: equal rows become one when merged, and are one in the views. `basis` says what the answer rests on; `action`,
-- with the target and the lease, is all that actuators look at; `advice` is of the hardware under the pool, empty for none.
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
    newest_bucket    Nullable(DateTime64(3, 'UTC')) COMMENT 'end of the data that the estimate saw',
    valid_until      DateTime64(3, 'UTC'),
    revision         UInt64,
    basis            LowCardinality(String) COMMENT 'name of sluice.pools.v1.Basis, without its prefix',
    action           LowCardinality(String) COMMENT 'HOLD or APPLY',
    advice           LowCardinality(String) COMMENT 'name of sluice.pools.v1.Advice.Kind, without its prefix',
    advised_cores    Nullable(Float64)      COMMENT 'CPU limit of one instance that would do',
    advised_replicas Nullable(UInt32)       COMMENT 'that would do',
    asked_per_s      Nullable(Float64)      COMMENT 'calls of one instance that ended, over a minute',
    in_time          Nullable(Float64)      COMMENT 'part of them, 0..1; NULL: no caller tells',
    best_per_s       Nullable(Float64)      COMMENT 'what the best size is expected to do'
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (service, side, peer, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
