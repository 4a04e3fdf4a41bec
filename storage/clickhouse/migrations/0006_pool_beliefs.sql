-- The recommender's belief over the curve of each pool, from its explanations: the newest of a quarter of an hour. The lists match by
-- position. TTL: as `windows`, which have the measured points of the same time.
CREATE TABLE IF NOT EXISTS pool_beliefs
(
    service          LowCardinality(String),
    side             Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    peer             LowCardinality(String),
    at               DateTime64(3, 'UTC')   COMMENT 'time of the record, and the version' CODEC(Delta, ZSTD(1)),
    quarter          DateTime('UTC')        DEFAULT toStartOfFifteenMinutes(at) CODEC(Delta, ZSTD(1)),
    sizes            Array(UInt32)          COMMENT 'ascending' CODEC(ZSTD(1)),
    expected_per_s   Array(Float32)         COMMENT 'completions per second of one instance whose pool of that size is full' CODEC(ZSTD(1)),
    lower_per_s      Array(Float32)         COMMENT 'to upper_per_s: the central 80 % of the belief' CODEC(ZSTD(1)),
    upper_per_s      Array(Float32)         CODEC(ZSTD(1)),
    knee             UInt32                 COMMENT 'smallest size expected to complete 99 % of what the best size completes' CODEC(ZSTD(1)),
    best             UInt32                 COMMENT 'best size' CODEC(ZSTD(1)),
    upper            UInt32                 COMMENT 'largest size expected to complete 99 % of what the best size completes' CODEC(ZSTD(1)),
    seconds          Float64                COMMENT 'of evidence on cpu_limit_cores; older ones have less weight' CODEC(ZSTD(1)),
    cpu_limit_cores  Float64                COMMENT 'of one instance, for which the curve is' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(at)
PARTITION BY toDate(at)
ORDER BY (service, side, peer, quarter)
TTL toDateTime(at) + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1;
