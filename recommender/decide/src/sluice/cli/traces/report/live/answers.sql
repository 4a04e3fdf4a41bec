-- The decider's newest answers that are at most two minutes old, without those of pools that it no longer has; the size in force if it was
-- the same since {from_ms} (Unix time).
SELECT
    toString(service) AS service, toString(side) AS side, toString(peer) AS peer, toString(state) AS state, current, target,
    lower_bound, upper_bound, confidence, arrayMap(r -> toString(r), reasons) AS codes, steady
FROM v_pool_now
LEFT JOIN
(
    SELECT service, side, peer, if(uniqExact(current) = 1, any(current), NULL) AS steady
    FROM recommendations
    WHERE at >= fromUnixTimestamp64Milli({from_ms:Int64})
    GROUP BY service, side, peer
) AS since USING (service, side, peer)
WHERE age_s <= 120 AND state != 'DELETED'
