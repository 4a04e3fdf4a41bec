-- Clients' responses to subsets: ACK and NACK over xDS, or calls of ReportDelivery.
CREATE TABLE IF NOT EXISTS subset_deliveries
(
    upstream    LowCardinality(String),
    instance    String,
    downstream  LowCardinality(String),
    at          DateTime64(3, 'UTC')        CODEC(Delta, ZSTD(1)),
    outcome     Enum8('APPLIED' = 1, 'REFUSED' = 2),
    revision    UInt64,
    client      String                      COMMENT 'id of the xDS node, or the name that the caller gives',
    detail      String                      CODEC(ZSTD(1)),
    by          LowCardinality(String)      COMMENT 'identity of the sender, by token or certificate; the client if the server asks for none',
    request_id  String                      CODEC(ZSTD(1)),
    received    DateTime64(3, 'UTC')        COMMENT 'the version' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(received)
PARTITION BY toYYYYMM(at)
ORDER BY (upstream, downstream, instance, by, request_id)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;
