-- The wait for a service's threads lies in its callers' CLIENT spans, before its SERVER spans. `self_sum` and `upstream_sum`
-- count it for the caller. Beside them: the wait itself; upstream with the wait counted for the service that owns the threads
-- (the threshold of what callers' CLIENT spans judge, which contain it); and blame, in which it counts for those who held the
-- threads (what is held up by whom). Rows from before, and of a job from before, read as if nobody had waited.
ALTER TABLE path_services
    ADD COLUMN IF NOT EXISTS call_upstream_sum UInt64 DEFAULT upstream_sum
        COMMENT 'ns: as upstream_sum, each wait counted for the service that owns the threads' CODEC(T64, ZSTD(1))
        AFTER upstream_sum2,
    ADD COLUMN IF NOT EXISTS wait_sum UInt64 DEFAULT 0
        COMMENT 'ns: what its callers waited for its threads' CODEC(T64, ZSTD(1))
        AFTER call_upstream_sum,
    ADD COLUMN IF NOT EXISTS blame_sum UInt64 DEFAULT self_sum
        COMMENT 'ns: its processing time, and its share of the waits for threads that it held' CODEC(T64, ZSTD(1))
        AFTER wait_sum,
    ADD COLUMN IF NOT EXISTS blame_sum2 UInt128 DEFAULT self_sum2 CODEC(ZSTD(1)) AFTER blame_sum,
    ADD COLUMN IF NOT EXISTS blame_x_e2e UInt128 DEFAULT self_x_e2e
        COMMENT 'sum of products of blame and end to end time' CODEC(ZSTD(1))
        AFTER blame_sum2,
    ADD COLUMN IF NOT EXISTS call_upstream_latency Map(Int16, UInt32) DEFAULT upstream_latency
        COMMENT 'times of call_upstream_sum, indexed as in windows' CODEC(ZSTD(1))
        AFTER upstream_latency,
    ADD COLUMN IF NOT EXISTS blame_latency Map(Int16, UInt32) DEFAULT self_latency
        COMMENT 'times of blame_sum, indexed as in windows' CODEC(ZSTD(1))
        AFTER call_upstream_latency;
