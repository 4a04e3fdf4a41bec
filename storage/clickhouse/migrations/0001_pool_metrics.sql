-- Figures of pools in the metrics that agents send: the points of each series per window, from otlp_metrics. Upserts, as `windows`.
-- Values are whole numbers: connections, threads and requests, or ns for wait_time and use_time.
CREATE TABLE IF NOT EXISTS pool_metrics
(
    service     LowCardinality(String),
    instance    LowCardinality(String)      COMMENT 'empty where the resource names none',
    side        Enum8('client' = 1, 'server' = 2, 'executor' = 3),
    pool        LowCardinality(String)      COMMENT 'as its attributes name it; empty if they do not',
    peer        LowCardinality(String)      COMMENT 'of connections, by attributes or by the name of the pool; empty if neither has an address',
    figure      LowCardinality(String)      COMMENT 'size (0: without a limit), used, idle, idle_max, pending, timeouts, waits, wait_time, uses, use_time',
    metric_rank UInt8                       COMMENT 'of the metrics of one pool and figure, the lowest with a value counts' CODEC(ZSTD(1)),
    series      String                      COMMENT 'metric and attributes' CODEC(ZSTD(1)),
    kind        Enum8('level' = 1, 'counter' = 2, 'delta' = 3),
    start_ns    Int64                       COMMENT 'start of a counter; 0: unknown' CODEC(Delta, ZSTD(1)),
    window      DateTime('UTC')             CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    points      UInt64                      CODEC(T64, ZSTD(1)),
    value_sum   Int64                       COMMENT '0 for a counter' CODEC(T64, ZSTD(1)),
    value_min   Int64                       COMMENT 'a counter''s first' CODEC(T64, ZSTD(1)),
    value_max   Int64                       COMMENT 'a counter''s last' CODEC(T64, ZSTD(1)),
    first_ns    Int64                       COMMENT 'time of the first point' CODEC(Delta, ZSTD(1)),
    last_ns     Int64                       COMMENT 'time of the last point' CODEC(Delta, ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (service, instance, side, pool, peer, figure, metric_rank, series, kind, start_ns, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
