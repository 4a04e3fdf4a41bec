-- The newest record of each candidate pool that spans showed within a day.
CREATE OR REPLACE VIEW v_candidates_now AS
SELECT *
FROM pool_candidates
WHERE seen >= now64(3) - INTERVAL 1 DAY
ORDER BY at DESC
LIMIT 1 BY service, side, peer
