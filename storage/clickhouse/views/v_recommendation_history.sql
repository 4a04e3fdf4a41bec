-- Decisions on each pool, from the first row of each (since) to the last (until). The recommender records each new decision, and an
-- unchanged one once a minute: periods counts rows.
CREATE OR REPLACE VIEW v_recommendation_history AS
SELECT
    * EXCEPT (at, buckets, newest_bucket, valid_until),
    min(at) OVER answer AS since,
    max(at) OVER answer AS until,
    count() OVER answer AS periods
FROM recommendations FINAL
WINDOW answer AS (PARTITION BY service, side, peer, revision)
QUALIFY at = until
