-- Pools that are paused now: since when, by whom and why.
SELECT
    service,
    toString(side)                       AS side,
    peer,
    toUnixTimestamp64Milli(max(at))      AS at_ms,
    argMax(by, at)                       AS newest_by,
    argMax(why, at)                      AS newest_why
FROM pool_pauses
GROUP BY service, side, peer
HAVING argMax(paused, at)
