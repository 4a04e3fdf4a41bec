-- The audit: every report of every actuator, append-only. Rows with the same `request_id` and `by` are repeats of one report; the
-- one received last stays, in whichever order they were written. Without an id, time and target identify a report. `instance` is
-- the target's replica of the service: each has a size of its own, since replicas differ during a rollout. A pool without a limit
-- (`unbounded`) has no size to read back, which differs from a size of 0.
CREATE TABLE IF NOT EXISTS actuations
(
    service       LowCardinality(String),
    side          Enum8('server' = 1, 'client' = 2, 'consumer' = 3),
    peer          LowCardinality(String),
    at            DateTime64(3, 'UTC')      CODEC(Delta, ZSTD(1)),
    target_name   LowCardinality(String),
    actuator      LowCardinality(String),
    outcome       Enum8('OBSERVED' = 1, 'APPLIED' = 2, 'FAILED' = 3, 'REFUSED' = 4),
    requested     Nullable(UInt32),
    previous      Nullable(UInt32),
    read_back     Nullable(UInt32),
    revision      UInt64,
    detail        String                    CODEC(ZSTD(1)),
    instance      LowCardinality(String),
    unbounded     Bool,
    by            LowCardinality(String)    COMMENT 'identity of the sender, by token or certificate; empty if the server asks for none',
    request_id    String                    DEFAULT lower(hex(sipHash128(at, target_name, instance))) CODEC(ZSTD(1)),
    received      DateTime64(3, 'UTC')      DEFAULT at COMMENT 'the version' CODEC(Delta, ZSTD(1)),
    log_partition Nullable(Int32)           COMMENT 'of the topic of reports',
    log_offset    Nullable(Int64)           COMMENT 'in that partition'
)
ENGINE = ReplacingMergeTree(received)
PARTITION BY toYYYYMM(at)
ORDER BY (service, side, peer, actuator, by, request_id)
TTL toDateTime(at) + INTERVAL 365 DAY
SETTINGS ttl_only_drop_parts = 1;
