-- The calls between services in the windows of [from_ms, to_ms): all that a trial's root can lead to.
SELECT DISTINCT toString(caller) AS caller, toString(callee) AS callee
FROM call_edges FINAL
WHERE calls > 0
    AND window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND window < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
ORDER BY caller, callee
