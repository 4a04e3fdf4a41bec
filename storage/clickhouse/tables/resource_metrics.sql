-- Usage of hosts and containers: the points of each series per window, from otlp_metrics. Upserts, as `windows`.
-- Values are whole numbers: of 1e-9 for ratios and cores, of bytes for host_network and host_memory_bandwidth;
-- v_resource_metrics_between converts a counter to a rate per second.
CREATE TABLE IF NOT EXISTS resource_metrics
(
    role        LowCardinality(String)      COMMENT 'host_cpu_idle, host_cpu_used, host_cpu_cores, host_memory_bandwidth, host_memory_bandwidth_utilization, host_network, host_network_utilization, container_cpu, container_cpu_limit',
    host        LowCardinality(String),
    instance    LowCardinality(String)      COMMENT 'empty for a host''s roles',
    metric_rank UInt8                       COMMENT 'of the metrics of one role, the lowest with a value counts' CODEC(ZSTD(1)),
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
ORDER BY (role, host, instance, metric_rank, series, kind, start_ns, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
