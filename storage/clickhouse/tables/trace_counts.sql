-- Traces per cause and 10 s of Kafka record time of a trace's first message. Every trace counts under exactly one of
-- 'closed_quiet' and 'closed_max_age'. It may also count under 'late' (a part arrived after the trace was closed, or the id was
-- used again), 'incomplete' (it has an orphan), 'empty' (it has no path), and, with the spans concerned, 'outside_parent',
-- 'asynchronous', 'cycle', 'self_parent'. Upserts, as `windows`.
CREATE TABLE IF NOT EXISTS trace_counts
(
    cause       LowCardinality(String),
    service     LowCardinality(String)      COMMENT 'of the root; without one of the first orphan; else empty',
    received    DateTime('UTC')             COMMENT 'start of 10 s of Kafka record time' CODEC(Delta, ZSTD(1)),
    traces      UInt64                      CODEC(T64, ZSTD(1)),
    spans       UInt64                      CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(received)
ORDER BY (cause, service, received)
TTL received + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
