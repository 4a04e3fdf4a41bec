-- Which downstream containers each upstream container was to be connected to: a row of each record of the log, in which
-- endpoints, addresses and weights are by position. `recorded` is the time of the record, and the version: an equal state
-- of one revision is written again only under newer reasons.
CREATE TABLE IF NOT EXISTS subsets
(
    upstream    LowCardinality(String),
    instance    String                      COMMENT 'the container of upstream',
    downstream  LowCardinality(String),
    at          DateTime64(3, 'UTC')        COMMENT 'when the solution was made' CODEC(Delta, ZSTD(1)),
    state       LowCardinality(String)      COMMENT 'name of sluice.subsets.v1.State, without its prefix',
    strategy    LowCardinality(String),
    endpoints   Array(String)               CODEC(ZSTD(1)),
    addresses   Array(String)               CODEC(ZSTD(1)),
    weights     Array(UInt32)               COMMENT 'shares of the calls, relative to each other' CODEC(ZSTD(1)),
    reasons     Array(LowCardinality(String)),
    revision    UInt64,
    recorded    DateTime64(3, 'UTC')        COMMENT 'the version' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(recorded)
PARTITION BY toYYYYMM(at)
ORDER BY (upstream, downstream, instance, revision, state, reasons)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1;

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
