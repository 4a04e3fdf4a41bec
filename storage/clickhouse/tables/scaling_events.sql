-- Changes by hardware autoscalers and releases, as they notified the recommender: append-only. The newest rows of a service give
-- its pools' hardware and versions, also after a restart. Equal rows become one, as in `recommendations`.
CREATE TABLE IF NOT EXISTS scaling_events
(
    service         LowCardinality(String),
    at              DateTime64(3, 'UTC')    COMMENT 'start of its effect' CODEC(Delta, ZSTD(1)),
    cpu_limit_cores Nullable(Float64)       COMMENT 'of one instance; NULL: did not change',
    replicas        Nullable(UInt32)        COMMENT 'NULL: did not change',
    version         LowCardinality(String)  COMMENT 'empty: did not change',
    source          LowCardinality(String)  COMMENT 'name of the source',
    received        DateTime64(3, 'UTC')    DEFAULT now64(3) COMMENT 'retention counts from it: at may be long ago' CODEC(Delta, ZSTD(1)),
    by              LowCardinality(String)  COMMENT 'identity of the sender, by token or certificate; empty if the server asks for none'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received)
ORDER BY (service, at, version, source, ifNull(cpu_limit_cores, 0), ifNull(replicas, 4294967295))
TTL toDateTime(received) + INTERVAL 3650 DAY
SETTINGS ttl_only_drop_parts = 1;
