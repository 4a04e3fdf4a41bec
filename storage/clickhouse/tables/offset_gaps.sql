-- Records that a Flink job never read, because the topic deleted them before: offsets from first_missing to before first_read of a
-- partition. Upserts: a repeated reading after a failure gives the same gap.
CREATE TABLE IF NOT EXISTS offset_gaps
(
    flink_job     LowCardinality(String)  COMMENT 'and its consumer group',
    topic         LowCardinality(String),
    partition     Int32,
    first_missing Int64                   COMMENT 'the first unread offset',
    first_read    Int64                   COMMENT 'the next offset that the job read',
    received      DateTime64(3, 'UTC')    COMMENT 'Kafka record time of first_read',
    version       UInt64,
    written       DateTime64(3, 'UTC')    DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(received)
ORDER BY (flink_job, topic, partition, first_missing)
TTL toDateTime(received) + INTERVAL 365 DAY
SETTINGS ttl_only_drop_parts = 1;
