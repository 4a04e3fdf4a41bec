-- What each answer rests on, and whether actuators are to apply it: `action` is all that they look at, with the target and
-- the lease. Empty in rows from before.
ALTER TABLE recommendations
    ADD COLUMN IF NOT EXISTS basis  LowCardinality(String) COMMENT 'name of sluice.pools.v1.Basis, without its prefix',
    ADD COLUMN IF NOT EXISTS action LowCardinality(String) COMMENT 'HOLD or APPLY',
    COMMENT COLUMN IF EXISTS state 'name of sluice.pools.v1.State, without its prefix';

-- Which replica of the service a target is: sizes are known for each, since they differ while they roll. A pool without a
-- limit has no size to read back, which is not a size of 0.
ALTER TABLE actuations
    ADD COLUMN IF NOT EXISTS instance  LowCardinality(String),
    ADD COLUMN IF NOT EXISTS unbounded Bool;
