-- Each answer that a pool was given, from its first row (since) to its last (until). A row is written of each new answer, and
-- once a minute of one that stays: periods counts rows.
CREATE OR REPLACE VIEW v_recommendation_history AS
SELECT
    * EXCEPT (at, buckets, newest_bucket, valid_until),
    min(at) OVER answer AS since,
    max(at) OVER answer AS until,
    count() OVER answer AS periods
FROM recommendations FINAL
WINDOW answer AS (PARTITION BY service, side, peer, revision)
QUALIFY at = until
