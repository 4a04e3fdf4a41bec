-- The audit by what makes a report the same when it is told again: its id, under who told it. By time, as before, one of two
-- reports of a millisecond was lost, and one without a time of its own was there as often as it was told. Of rows with one
-- id the one that was received last stays, in whichever order they were written. Rows from before, and those of writers that
-- know no ids, have their time and target for one. The columns come first, so that both statements can be repeated.
ALTER TABLE actuations
    ADD COLUMN IF NOT EXISTS by         LowCardinality(String),
    ADD COLUMN IF NOT EXISTS request_id String               DEFAULT lower(hex(sipHash128(at, target_name, instance))),
    ADD COLUMN IF NOT EXISTS received   DateTime64(3, 'UTC') DEFAULT at;

CREATE OR REPLACE TABLE actuations
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
    detail      String                      CODEC(ZSTD(1)),
    instance    LowCardinality(String),
    unbounded   Bool,
    by          LowCardinality(String)      COMMENT 'who told it, by token or certificate; empty where none is asked for',
    request_id  String                      DEFAULT lower(hex(sipHash128(at, target_name, instance))) CODEC(ZSTD(1)),
    received    DateTime64(3, 'UTC')        DEFAULT at COMMENT 'the version' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(received)
PARTITION BY toYYYYMM(at)
ORDER BY (service, side, peer, actuator, by, request_id)
TTL toDateTime(at) + INTERVAL 365 DAY
SETTINGS ttl_only_drop_parts = 1
AS SELECT * FROM actuations FINAL;

ALTER TABLE scaling_events
    ADD COLUMN IF NOT EXISTS by LowCardinality(String) COMMENT 'who told it, by token or certificate; empty where none is asked for';
