-- Per pool: the newest revision, the content that it stands for, and the last target that came from a curve.
SELECT
    service,
    toString(side)                                                       AS side,
    peer,
    max(revision)                                                        AS newest_revision,
    argMax(state, (revision, at))                                        AS newest_state,
    argMax((current, target, lower_bound, upper_bound, unguarded_target), (revision, at)) AS sizes,
    argMax(reasons, (revision, at))                                      AS codes,
    argMax(basis, (revision, at))                                        AS newest_basis,
    argMax(action, (revision, at))                                       AS newest_action,
    argMaxIf(target, at, state IN ('PROVIDED', 'GUARDED'))               AS good_target,
    toUnixTimestamp64Milli(maxIf(at, state IN ('PROVIDED', 'GUARDED')))  AS good_at_ms
FROM recommendations
GROUP BY service, side, peer
