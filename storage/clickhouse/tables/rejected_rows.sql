-- Rows that the streaming jobs could not write to a store, one for each key: the same row refused again (after a restart, in a
-- replay, in a newer version) is no other row within one month. The topic otlp_dead_letter has the first 100 rows of a batch
-- themselves. With reason 'column_missing' and the column as key, a row counts the rows written without a column that the table
-- lacks, since a writer noticed.
CREATE TABLE IF NOT EXISTS rejected_rows
(
    store  LowCardinality(String)           COMMENT 'clickhouse or neo4j',
    table  LowCardinality(String),
    reason LowCardinality(String)           COMMENT 'not_encodable (a value has no place in its column), refused (by the store), too_large, column_missing',
    key    String                           COMMENT 'the row''s primary key, joined by |' CODEC(ZSTD(1)),
    rows   UInt64                           DEFAULT 1 COMMENT '1; for column_missing the rows written without it',
    detail String                           COMMENT 'last response of the store' CODEC(ZSTD(1)),
    at     DateTime64(3, 'UTC')             DEFAULT now64(3) COMMENT 'newest refusal' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(at)
PARTITION BY toYYYYMM(at)
ORDER BY (store, table, reason, key)
TTL toDateTime(at) + INTERVAL 30 DAY;
