-- Spans that `windows` does not count, and why: by rule of streaming-jobs/spans.toml, or because they are nested in a span that
-- holds the same thread or connection. Per window of their end. Upserts, as `windows`: nothing is ever taken back. Read through
-- v_spans_left_out.
CREATE TABLE IF NOT EXISTS spans_left_out
(
    side        LowCardinality(String),
    service     LowCardinality(String),
    peer        LowCardinality(String)      COMMENT 'by the attributes of the span; empty for side = server',
    operation   LowCardinality(String)      COMMENT 'name of the span; empty for client spans that are nested',
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
