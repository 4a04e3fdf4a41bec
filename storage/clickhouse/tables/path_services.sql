-- The time of each service on the critical paths of a root operation, per 10 s of the root span's end, over the traces whose path
-- has the service. Sums, squares and cross products of x = processing time and y = end to end time give means, variances and
-- Pearson's correlation over any number of windows: pearson(n, Sx, Sxx, Sy, Syy, Sxy). All squares and products are exact; at most
-- 10^38 - 1. The wait for a service's threads is in its callers' CLIENT spans, before its SERVER spans: `self_sum` and
-- `upstream_sum` count it for the caller. Upserts, as `critical_paths`.
CREATE TABLE IF NOT EXISTS path_services
(
    root_service          LowCardinality(String),
    root_operation        LowCardinality(String),
    complete              Bool                   COMMENT 'as in critical_paths',
    service               LowCardinality(String),
    window_s              UInt16                 CODEC(ZSTD(1)),
    window                DateTime('UTC')        CODEC(Delta, ZSTD(1)),
    traces                UInt64                 COMMENT 'traces whose path has the service' CODEC(T64, ZSTD(1)),
    self_sum              UInt64                 COMMENT 'ns: its processing time on the path' CODEC(T64, ZSTD(1)),
    self_sum2             UInt128                CODEC(ZSTD(1)),
    e2e_sum               UInt64                 COMMENT 'ns: end to end time of the same traces' CODEC(T64, ZSTD(1)),
    e2e_sum2              UInt128                CODEC(ZSTD(1)),
    self_x_e2e            UInt128                COMMENT 'sum of products of the two' CODEC(ZSTD(1)),
    upstream_sum          UInt64                 COMMENT 'ns: processing time of all services above it' CODEC(T64, ZSTD(1)),
    upstream_sum2         UInt128                CODEC(ZSTD(1)),
    call_upstream_sum     UInt64                 DEFAULT upstream_sum COMMENT 'ns: as upstream_sum, each wait counted for the service that owns the threads' CODEC(T64, ZSTD(1)),
    wait_sum              UInt64                 DEFAULT 0 COMMENT 'ns: its callers'' waits for its threads' CODEC(T64, ZSTD(1)),
    blame_sum             UInt64                 DEFAULT self_sum COMMENT 'ns: its processing time, and its share of the waits for threads that it occupied' CODEC(T64, ZSTD(1)),
    blame_sum2            UInt128                DEFAULT self_sum2 CODEC(ZSTD(1)),
    blame_x_e2e           UInt128                DEFAULT self_x_e2e COMMENT 'sum of products of blame and end to end time' CODEC(ZSTD(1)),
    self_latency          Map(Int16, UInt32)     COMMENT 'processing times, indexed as in windows' CODEC(ZSTD(1)),
    upstream_latency      Map(Int16, UInt32)     COMMENT 'upstream times, indexed as in windows' CODEC(ZSTD(1)),
    call_upstream_latency Map(Int16, UInt32)     DEFAULT upstream_latency COMMENT 'times of call_upstream_sum, indexed as in windows' CODEC(ZSTD(1)),
    blame_latency         Map(Int16, UInt32)     DEFAULT self_latency COMMENT 'times of blame_sum, indexed as in windows' CODEC(ZSTD(1)),
    version               UInt64                 CODEC(T64, ZSTD(1)),
    written               DateTime64(3, 'UTC')   DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (root_service, root_operation, complete, service, window_s, window)
TTL window + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
