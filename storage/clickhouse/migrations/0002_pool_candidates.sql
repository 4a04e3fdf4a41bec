-- Candidate pools, from the recommender: a row for each record of the journal, which has one at each change and each hour while spans
-- show the candidate. Equal rows become one.
CREATE TABLE IF NOT EXISTS pool_candidates
(
    service     LowCardinality(String),
    side        Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    peer        LowCardinality(String),
    at          DateTime64(3, 'UTC')            CODEC(Delta, ZSTD(1)),
    found_by    LowCardinality(String)          COMMENT 'CONFIGURATION, ACTUATOR, METRICS, BOUND; empty: it is no pool',
    found_at    Nullable(DateTime64(3, 'UTC')),
    why         String                          COMMENT 'why it is a pool, or none yet' CODEC(ZSTD(1)),
    concurrency Float64                         COMMENT 'mean in flight over five minutes, of all instances' CODEC(ZSTD(1)),
    instances   UInt32                          CODEC(ZSTD(1)),
    size        Nullable(UInt32)                COMMENT 'in force in each instance; NULL: unknown, unlimited, or instances differ',
    size_from   LowCardinality(String)          COMMENT 'ACTUATOR, METRICS or BOUND; empty: no size is known',
    seen        DateTime64(3, 'UTC')            COMMENT 'when spans showed it' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (service, side, peer, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
