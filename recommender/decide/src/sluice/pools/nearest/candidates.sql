-- The candidate pools from {from_s} on (Unix time), with their instances; most requests first. {services} limits them, [] does not. A row
-- that a correction emptied shows nothing.
SELECT
    toString(service)                             AS service,
    toString(side)                                AS side,
    toString(peer)                                AS peer,
    toUInt64(sum(completions))                    AS requests,
    arraySort(groupUniqArray(toString(instance))) AS instances
FROM windows_1m FINAL
PREWHERE start >= fromUnixTimestamp({from_s:Int64}) AND (empty({services:Array(String)}) OR service IN {services:Array(String)})
WHERE busy_ns > 0 OR completions > 0
GROUP BY service, side, peer
ORDER BY requests DESC, service, side, peer
LIMIT 20000
