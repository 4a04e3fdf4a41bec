-- Per pool: the newest revision, and the content that it stands for.
SELECT
    service,
    toString(side)                                                       AS side,
    peer,
    max(revision)                                                        AS newest_revision,
    argMax(state, (revision, at))                                        AS newest_state,
    argMax((current, target, lower_bound, upper_bound, unguarded_target), (revision, at)) AS sizes,
    argMax(reasons, (revision, at))                                      AS codes,
    argMax(basis, (revision, at))                                        AS newest_basis,
    argMax(action, (revision, at))                                       AS newest_action
FROM recommendations
GROUP BY service, side, peer
