-- The newest row of each pool's recommendation, and how old it is. current and target are NULL where there is none. A row is
-- written when an answer changes, and once a minute; whether its lease was renewed since, only the recommender says.
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
