-- Rows that the streaming jobs could not write to a store: one for each key, so that what is refused again (after a
-- restart, in a replay, in a newer version of the row) is no other row as long as it is the same month. The rows
-- themselves are on otlp_dead_letter, the first 100 of a batch. Beside them, with reason 'column_missing' and the column
-- as key: how many rows a writer has written without a column that the table does not have, since it noticed.
CREATE TABLE IF NOT EXISTS rejected_rows
(
    store  LowCardinality(String)           COMMENT 'clickhouse or neo4j',
    table  LowCardinality(String),
    reason LowCardinality(String)           COMMENT 'not_encodable (a value has no place in its column), refused (the store said no), too_large, column_missing',
    key    String                           COMMENT 'the row''s primary key, joined by |' CODEC(ZSTD(1)),
    rows   UInt64                           DEFAULT 1 COMMENT '1; for column_missing those written without it',
    detail String                           COMMENT 'what the store answered last' CODEC(ZSTD(1)),
    at     DateTime64(3, 'UTC')             DEFAULT now64(3) COMMENT 'newest refusal' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(at)
PARTITION BY toYYYYMM(at)
ORDER BY (store, table, reason, key)
TTL toDateTime(at) + INTERVAL 30 DAY;
