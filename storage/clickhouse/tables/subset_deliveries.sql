-- What clients did with them: by ACK and NACK over xDS, or by telling.
CREATE TABLE IF NOT EXISTS subset_deliveries
(
    upstream    LowCardinality(String),
    instance    String,
    downstream  LowCardinality(String),
    at          DateTime64(3, 'UTC')        CODEC(Delta, ZSTD(1)),
    outcome     Enum8('APPLIED' = 1, 'REFUSED' = 2),
    revision    UInt64,
    client      String                      COMMENT 'the node of xDS, or the name that a caller gave',
    detail      String                      CODEC(ZSTD(1)),
    by          LowCardinality(String)      COMMENT 'who told it, by token or certificate; the client where none is asked for',
    request_id  String                      CODEC(ZSTD(1)),
    received    DateTime64(3, 'UTC')        COMMENT 'the version' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(received)
PARTITION BY toYYYYMM(at)
ORDER BY (upstream, downstream, instance, by, request_id)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
