-- What actuators did, with the recommendation acted on: every attempt, and of mere observations only those that saw
-- another size than the report before. intended is the size of the decision, requested the step towards it that was written.
CREATE OR REPLACE VIEW v_actuation_history AS
SELECT
    a.at AS at,
    a.service AS service,
    a.side AS side,
    a.peer AS peer,
    a.target_name AS target_name,
    a.instance AS instance,
    a.actuator AS actuator,
    a.by AS by,
    a.request_id AS request_id,
    a.received AS received,
    a.outcome AS outcome,
    a.previous AS previous,
    r.intended AS intended,
    a.requested AS requested,
    a.read_back AS read_back,
    a.unbounded AS unbounded,
    a.revision AS revision,
    r.state AS state,
    r.basis AS basis,
    r.threshold_ms AS threshold_ms,
    r.reasons AS reasons,
    a.log_partition AS log_partition,
    a.log_offset AS log_offset,
    a.detail AS detail
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
        any(target) AS intended, toNullable(any(threshold_ms)) AS threshold_ms
    FROM recommendations
    GROUP BY service, side, peer, revision
) AS r ON a.service = r.service AND a.side = r.side AND a.peer = r.peer AND a.revision = r.revision
WHERE a.outcome != 'OBSERVED' OR a.nth = 1 OR a.report_before != tuple(a.read_back)
