-- What the spans of each service that arrived in one window say of samplers before them, and what their trace ids show.
-- Samplers by trace id keep the ids whose number lies below a bound. `most_*` and `least_*` are the largest and the smallest number, of
-- 63 bits: most_64 of the last 64 bits (Python, Go), most_63 of the last 63 (Java, Jaeger), most_56 of 2^56 - 1 less the last 56
-- (consistent sampling), most_32 of the words of 32 bits, by exclusive or (JavaScript), most_head of the size of the first 64 (.NET).
-- `last_bytes` counts spans by the last byte of their trace id: it has no more entries than there are traces. Upserts, as `windows`.
CREATE TABLE IF NOT EXISTS service_sampling
(
    service     LowCardinality(String),
    window      DateTime('UTC')             COMMENT 'of their arrival, by the broker''s clock' CODEC(Delta, ZSTD(1)),
    window_s    UInt16                      CODEC(ZSTD(1)),
    spans       UInt64                      CODEC(T64, ZSTD(1)),
    stated      UInt64                      COMMENT 'spans that say that not every trace was kept' CODEC(T64, ZSTD(1)),
    adjusted    UInt64                      COMMENT 'how many spans they stand for, in 1/1024: the sum of 1/probability; 1 where none is said' CODEC(T64, ZSTD(1)),
    tail        UInt64                      COMMENT 'spans that name the policy of a sampler of whole traces' CODEC(T64, ZSTD(1)),
    last_bytes  Map(Int16, UInt32)          CODEC(ZSTD(1)),
    most_64     Int64                       CODEC(ZSTD(1)),
    most_63     Int64                       CODEC(ZSTD(1)),
    most_56     Int64                       CODEC(ZSTD(1)),
    most_32     Int64                       CODEC(ZSTD(1)),
    most_head   Int64                       CODEC(ZSTD(1)),
    least_64    Int64                       CODEC(ZSTD(1)),
    least_head  Int64                       CODEC(ZSTD(1)),
    version     UInt64                      CODEC(T64, ZSTD(1)),
    written     DateTime64(3, 'UTC')        DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(window)
ORDER BY (service, window_s, window)
TTL window + INTERVAL 3 DAY
SETTINGS ttl_only_drop_parts = 1;
