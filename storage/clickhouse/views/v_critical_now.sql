-- The services that the decider ranks for each root operation now, the most critical first, and the age of the ranking. Operations
-- without one in the newest five minutes are left out.
CREATE OR REPLACE VIEW v_critical_now AS
SELECT *, dateDiff('second', at, now64(3)) AS age_s
FROM critical_services FINAL
WHERE at > now64(3) - INTERVAL 5 MINUTE
    AND (root_service, root_operation, at) IN
        (
            SELECT root_service, root_operation, max(at) FROM critical_services WHERE at > now64(3) - INTERVAL 5 MINUTE
            GROUP BY root_service, root_operation
        )
ORDER BY root_service, root_operation, rank
