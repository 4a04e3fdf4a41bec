-- Calls between containers per 10 s of the callee's span end: whom each container called. Upserts, as `windows`. A call whose caller or
-- callee names no instance has no row.
CREATE TABLE IF NOT EXISTS container_calls
(
    caller           LowCardinality(String) COMMENT 'service',
    caller_instance  LowCardinality(String),
    callee           LowCardinality(String) COMMENT 'service',
    callee_instance  LowCardinality(String),
    window           DateTime('UTC')        CODEC(Delta, ZSTD(1)),
    window_s         UInt16                 CODEC(ZSTD(1)),
    calls            UInt64                 CODEC(T64, ZSTD(1)),
    version          UInt64                 CODEC(T64, ZSTD(1)),
    written          DateTime64(3, 'UTC')   DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (caller, callee, caller_instance, callee_instance, window_s, window)
TTL window + INTERVAL 3 DAY
SETTINGS ttl_only_drop_parts = 1;

-- Whether the callers of a pair call as their subsets say.
ALTER TABLE subset_pairs
    ADD COLUMN IF NOT EXISTS following     Nullable(UInt32)  COMMENT 'upstream containers that call as their subsets say' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_following Nullable(UInt32)  COMMENT 'upstream containers that call otherwise' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unknown       Nullable(UInt32)  COMMENT 'upstream containers whose calls do not tell' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS fixed_share   Nullable(Float64) COMMENT 'part of the calls that callers make who do not follow, 0..1' CODEC(ZSTD(1));
