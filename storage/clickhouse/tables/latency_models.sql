-- Errors of the latency models of subsets, by service of an application and version, on windows of containers outside the training.
-- Errors are mean relative differences; NULL with too few samples for a test set.
CREATE TABLE IF NOT EXISTS latency_models
(
    application LowCardinality(String),
    service     LowCardinality(String),
    version     UInt64                      COMMENT 'time of the training, ms of Unix time',
    learnt      DateTime64(3, 'UTC')        CODEC(Delta, ZSTD(1)),
    basis       String                      COMMENT 'description of the model, for people',
    held_out    UInt64                      COMMENT 'number of samples behind the errors',
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
