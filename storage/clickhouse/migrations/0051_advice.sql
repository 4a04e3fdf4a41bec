-- What each answer said of the hardware under its pool. advice is empty where nothing was said, and in rows from before.
ALTER TABLE recommendations
    ADD COLUMN IF NOT EXISTS advice           LowCardinality(String) COMMENT 'name of sluice.pools.v1.Advice.Kind, without its prefix',
    ADD COLUMN IF NOT EXISTS advised_cores    Nullable(Float64) COMMENT 'CPU limit of one instance that would do',
    ADD COLUMN IF NOT EXISTS advised_replicas Nullable(UInt32)  COMMENT 'that would do',
    ADD COLUMN IF NOT EXISTS asked_per_s      Nullable(Float64) COMMENT 'calls of one instance that ended, over a minute',
    ADD COLUMN IF NOT EXISTS in_time          Nullable(Float64) COMMENT 'part of them, 0..1; NULL: no caller tells',
    ADD COLUMN IF NOT EXISTS best_per_s       Nullable(Float64) COMMENT 'what the best size is expected to do';
