-- The newest goodput curve with an optimum of each pool, for each CPU limit and version that it was seen under: a first
-- size when that comes again. Written by the recommender at most once a window per pool. Not partitioned by time: an
-- old curve has to be replaced by its newer one, whenever that comes.
CREATE TABLE IF NOT EXISTS curves
(
    service              LowCardinality(String),
    side                 Enum8('server' = 1, 'client' = 2),
    peer                 LowCardinality(String),
    version              LowCardinality(String) COMMENT 'empty: nobody told',
    peer_version         LowCardinality(String) COMMENT 'of a client pool''s peer',
    cpu_limit_cores      Float64                COMMENT 'of one instance; 0: nobody told',
    peer_cpu_limit_cores Float64                COMMENT 'of one instance of a client pool''s peer',
    at                   DateTime64(3, 'UTC')   CODEC(Delta, ZSTD(1)),
    target               Nullable(UInt32)       COMMENT 'NULL: forgotten, the service became another one',
    lower_bound          Nullable(UInt32),
    upper_bound          Nullable(UInt32),
    model                LowCardinality(String),
    threshold_ms         Float64,
    bucket_ms            UInt16,
    concurrency          Array(Float32)         COMMENT 'levels, ascending; the other arrays belong to them' CODEC(ZSTD(1)),
    goodput_per_s        Array(Float32)         CODEC(ZSTD(1)),
    throughput_per_s     Array(Float32)         CODEC(ZSTD(1)),
    samples              Array(UInt32)          COMMENT 'buckets' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (service, side, peer, version, peer_version, cpu_limit_cores, peer_cpu_limit_cores)
TTL toDateTime(at) + INTERVAL 365 DAY;
