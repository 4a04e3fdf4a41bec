-- The outcome of every span that a job read, per 10 s of Kafka record time: the sum over outcomes is the number of spans on the
-- topic. outcome is 'accepted', 'accepted_cut' (too long to be counted in full) or the dead-letter reason. A message that a job
-- could not decode counts once, with spans = 0 and messages = 1.
-- Upserts, as `windows`. A job may change the outcome of spans: it subtracts them from one row and adds them to another, in any
-- order. `spans` may be below 0 until the next version, so the column is signed.
CREATE TABLE IF NOT EXISTS ingest_counts
(
    job         LowCardinality(String),
    outcome     LowCardinality(String),
    service     LowCardinality(String)      COMMENT 'empty: unknown',
    received    DateTime('UTC')             COMMENT 'start of 10 s of Kafka record time' CODEC(Delta, ZSTD(1)),
    messages    Int64                       COMMENT 'messages that the job could not decode' CODEC(T64, ZSTD(1)),
    spans       Int64                       COMMENT 'below 0 for a moment after a change of outcomes' CODEC(T64, ZSTD(1)),
    emit_lag_ms Int64                       COMMENT 'sum over spans of (Kafka record time - span end)' CODEC(T64, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(received)
ORDER BY (job, outcome, service, received)
TTL received + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
