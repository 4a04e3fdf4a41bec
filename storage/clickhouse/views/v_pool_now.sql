-- The newest recorded decision on each pool, and its age. current and target are NULL if there is none. The recommender records a
-- decision at each change, and once a minute; only the recommender itself knows the present lease.
CREATE OR REPLACE VIEW v_pool_now AS
SELECT
    * EXCEPT (revision, at, buckets, newest_bucket, valid_until),
    revision,
    at,
    (toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(at)) / 1000 AS age_s
FROM recommendations
WHERE (service, side, peer, at) IN (SELECT service, side, peer, max(at) FROM recommendations GROUP BY service, side, peer)
ORDER BY revision DESC
LIMIT 1 BY service, side, peer
