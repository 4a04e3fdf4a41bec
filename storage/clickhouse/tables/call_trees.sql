-- The number of traces of each root operation with each call tree, which shows what a root waited for, per 10 s of the root's
-- span end. Upserts, as `windows`: the version is the number of traces.
CREATE TABLE IF NOT EXISTS call_trees
(
    root_service   LowCardinality(String),
    root_operation LowCardinality(String),
    window         DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s       UInt16                      CODEC(ZSTD(1)),
    tree           String                      COMMENT 'JSON: service, operation, stages of calls: stages run one after the other, calls of one stage at the same time' CODEC(ZSTD(3)),
    traces         UInt64                      CODEC(T64, ZSTD(1)),
    version        UInt64                      CODEC(T64, ZSTD(1)),
    written        DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
-- Trees are long: they are in the sorting key, but not in the index in memory.
PRIMARY KEY (root_service, root_operation, window_s, window)
ORDER BY (root_service, root_operation, window_s, window, tree)
TTL window + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1;
