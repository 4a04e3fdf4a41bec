-- The amount of data that spans moved, per window of their end. A row counts spans with at least one of the two figures. Upserts,
-- as `windows`; a client span stays under the peer that its own attributes name. Read through v_data_sizes.
CREATE TABLE IF NOT EXISTS data_sizes
(
    side        Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    service     LowCardinality(String),
    peer        LowCardinality(String)      COMMENT 'empty for side = server',
    instance    LowCardinality(String),
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    row_spans   UInt64                      COMMENT 'spans with the number of rows that a database returned' CODEC(T64, ZSTD(1)),
    row_sum     UInt64                      COMMENT 'sum of these rows' CODEC(T64, ZSTD(1)),
    byte_spans  UInt64                      COMMENT 'spans with the length of a request, response or message' CODEC(T64, ZSTD(1)),
    byte_sum    UInt64                      COMMENT 'sum of these bytes' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (side, service, peer, instance, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
