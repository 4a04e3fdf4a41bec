-- Spans that `windows` does not count, with the cause: a rule of streaming-jobs/spans.toml, or nesting in a span that holds the
-- same thread or connection. Per window of their end. Upserts, as `windows`: counts never fall. Read through
-- v_spans_left_out_between.
CREATE TABLE IF NOT EXISTS spans_left_out
(
    side        LowCardinality(String),
    service     LowCardinality(String),
    peer        LowCardinality(String)      COMMENT 'from the attributes of the span; empty for side = server',
    operation   LowCardinality(String)      COMMENT 'name of the span; empty for nested client spans',
    action      LowCardinality(String)      COMMENT 'leave_out, waiting, around, or nested',
    rule        LowCardinality(String)      COMMENT 'name of the rule, or nested',
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    spans       UInt64                      CODEC(T64, ZSTD(1)),
    duration_ns UInt64                      COMMENT 'sum of their durations' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (side, service, peer, operation, action, rule, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
