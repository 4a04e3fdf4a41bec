-- How much data spans moved, per window of their end: of those that say so, how many and how much. A row is of spans of which
-- at least one says something. Upserts, as `windows`; a client span stays under the peer that its own attributes name. Read
-- through v_data_sizes.
CREATE TABLE IF NOT EXISTS data_sizes
(
    side        Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    service     LowCardinality(String),
    peer        LowCardinality(String)      COMMENT 'empty for side = server',
    instance    LowCardinality(String),
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    row_spans   UInt64                      COMMENT 'spans that say how many rows a database returned' CODEC(T64, ZSTD(1)),
    row_sum     UInt64                      COMMENT 'those rows' CODEC(T64, ZSTD(1)),
    byte_spans  UInt64                      COMMENT 'spans that say how long a request, response or message is' CODEC(T64, ZSTD(1)),
    byte_sum    UInt64                      COMMENT 'those bytes' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (side, service, peer, instance, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
