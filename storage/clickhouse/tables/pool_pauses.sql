-- Pauses and resumes of pools by operators, from the recommender: append-only. The newest row of a pool shows whether it is
-- paused, also after a restart. Equal rows become one, as in `recommendations`.
CREATE TABLE IF NOT EXISTS pool_pauses
(
    service LowCardinality(String),
    side    Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    peer    LowCardinality(String),
    at      DateTime64(3, 'UTC')            CODEC(Delta, ZSTD(1)),
    paused  Bool,
    by      LowCardinality(String)          COMMENT 'name of the operator',
    why     String                          CODEC(ZSTD(1)),
    size    Nullable(UInt32)                COMMENT 'the held size; NULL: the size in force'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (service, side, peer, at)
TTL toDateTime(at) + INTERVAL 3650 DAY
SETTINGS ttl_only_drop_parts = 1;
