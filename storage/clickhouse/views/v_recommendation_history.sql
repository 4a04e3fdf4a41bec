-- Each answer that a pool was given, from its first row (since) to its last (until). A row is written of each new answer, and
-- once a minute of one that stays: periods counts rows.
CREATE OR REPLACE VIEW v_recommendation_history AS
SELECT
    service,
    side,
    peer,
    revision,
    min(at) AS since,
    max(at) AS until,
    count() AS periods,
    argMax(r.state, r.at) AS state,
    argMax(r.basis, r.at) AS basis,
    argMax(r.action, r.at) AS action,
    tupleElement(argMax(tuple(r.current), r.at), 1) AS current,
    tupleElement(argMax(tuple(r.target), r.at), 1) AS target,
    tupleElement(argMax(tuple(r.lower_bound), r.at), 1) AS lower_bound,
    tupleElement(argMax(tuple(r.upper_bound), r.at), 1) AS upper_bound,
    tupleElement(argMax(tuple(r.unguarded_target), r.at), 1) AS unguarded_target,
    argMax(r.confidence, r.at) AS confidence,
    argMax(r.threshold_ms, r.at) AS threshold_ms,
    argMax(r.model, r.at) AS model,
    argMax(r.reasons, r.at) AS reasons,
    argMax(r.advice, r.at) AS advice,
    tupleElement(argMax(tuple(r.advised_cores), r.at), 1) AS advised_cores,
    tupleElement(argMax(tuple(r.advised_replicas), r.at), 1) AS advised_replicas
FROM recommendations AS r FINAL
GROUP BY service, side, peer, revision
