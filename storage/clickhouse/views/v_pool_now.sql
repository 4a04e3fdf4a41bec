-- The newest recommendation of each pool, and how old it is. current and target are NULL where there is none.
CREATE OR REPLACE VIEW v_pool_now AS
SELECT
    service,
    side,
    peer,
    state,
    basis,
    action,
    current,
    target,
    lower_bound,
    upper_bound,
    unguarded_target,
    confidence,
    threshold_ms,
    model,
    reasons,
    buckets,
    revision,
    at,
    (toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(at)) / 1000 AS age_s,
    (toUnixTimestamp64Milli(valid_until) - toUnixTimestamp64Milli(now64(3))) / 1000 AS lease_left_s
FROM recommendations
WHERE (service, side, peer, at) IN (SELECT service, side, peer, max(at) FROM recommendations GROUP BY service, side, peer)
ORDER BY revision DESC
LIMIT 1 BY service, side, peer
