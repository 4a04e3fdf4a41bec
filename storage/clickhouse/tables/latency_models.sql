-- How wrong the latency models of subsets are, by service of an application and version: on windows of containers that they
-- were not trained on. Errors are mean relative differences; NULL where too few samples were there to hold some out.
CREATE TABLE IF NOT EXISTS latency_models
(
    application LowCardinality(String),
    service     LowCardinality(String),
    version     UInt64                      COMMENT 'ms of Unix time at which it was learnt',
    learnt      DateTime64(3, 'UTC')        CODEC(Delta, ZSTD(1)),
    basis       String                      COMMENT 'what it rests on, for people',
    held_out    UInt64                      COMMENT 'samples that the errors are of',
    mu_error    Nullable(Float64)           COMMENT 'of e^mu, the median latency',
    sigma_error Nullable(Float64),
    pair_error  Nullable(Float64)           COMMENT 'of the percentile over all containers of a window',
    recorded    DateTime64(3, 'UTC')        COMMENT 'the version of the row' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(recorded)
PARTITION BY toYYYYMM(learnt)
ORDER BY (application, service, version)
TTL toDateTime(learnt) + INTERVAL 365 DAY
SETTINGS ttl_only_drop_parts = 1;
