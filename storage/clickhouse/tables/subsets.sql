-- The downstream containers that each upstream container connects to: a row for each record of the journal. endpoints, addresses
-- and weights match by position. `recorded` is the time of the record, and the version: an equal state of one revision is written
-- again only with newer reasons.
CREATE TABLE IF NOT EXISTS subsets
(
    upstream    LowCardinality(String),
    instance    String                      COMMENT 'the container of upstream',
    downstream  LowCardinality(String),
    at          DateTime64(3, 'UTC')        COMMENT 'time of the solution' CODEC(Delta, ZSTD(1)),
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
