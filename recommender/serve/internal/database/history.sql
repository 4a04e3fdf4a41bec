-- The newest answers of one pool with a revision below `before`.
SELECT
    toUnixTimestamp64Milli(since) AS since_ms,
    toUnixTimestamp64Milli(until) AS until_ms,
    revision,
    state,
    basis,
    action,
    model,
    current,
    target,
    lower_bound,
    upper_bound,
    unguarded_target,
    confidence,
    reasons
FROM v_recommendation_history
WHERE service = {service:String} AND side = {side:String} AND peer = {peer:String} AND revision < {before:UInt64}
ORDER BY revision DESC
LIMIT {most:UInt32}
FORMAT JSONEachRow
