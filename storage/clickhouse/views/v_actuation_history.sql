-- Actuations with the decision behind each: every attempt, and only those observations with another size than the previous report.
-- intended is the size of the decision, requested the step towards it that the actuator wrote.
CREATE OR REPLACE VIEW v_actuation_history AS
SELECT a.* EXCEPT (report_before, nth), r.intended, r.state, r.basis, r.threshold_ms, r.reasons
FROM
(
    SELECT
        *,
        lagInFrame(tuple(read_back)) OVER (
            PARTITION BY service, side, peer, target_name, instance ORDER BY at
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS report_before,
        row_number() OVER (PARTITION BY service, side, peer, target_name, instance ORDER BY at) AS nth
    FROM actuations FINAL
) AS a
LEFT JOIN
(
    SELECT
        service, side, peer, revision, any(state) AS state, any(basis) AS basis, any(reasons) AS reasons,
        any(target) AS intended, nullIf(any(threshold_ms), 0) AS threshold_ms
    FROM recommendations
    GROUP BY service, side, peer, revision
) AS r USING (service, side, peer, revision)
WHERE a.outcome != 'OBSERVED' OR a.nth = 1 OR a.report_before != tuple(a.read_back)
