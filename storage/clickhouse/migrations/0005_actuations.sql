-- The audit: every report of every actuator, append-only. Equal rows become one, as in `recommendations`.
CREATE TABLE IF NOT EXISTS actuations
(
    service     LowCardinality(String),
    side        Enum8('server' = 1, 'client' = 2),
    peer        LowCardinality(String),
    at          DateTime64(3, 'UTC')        CODEC(Delta, ZSTD(1)),
    target_name LowCardinality(String),
    actuator    LowCardinality(String),
    outcome     Enum8('OBSERVED' = 1, 'APPLIED' = 2, 'FAILED' = 3, 'REFUSED' = 4),
    requested   Nullable(UInt32),
    previous    Nullable(UInt32),
    read_back   Nullable(UInt32),
    revision    UInt64,
    detail      String                      CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (service, side, peer, at, target_name, actuator)
TTL toDateTime(at) + INTERVAL 365 DAY
SETTINGS ttl_only_drop_parts = 1;
