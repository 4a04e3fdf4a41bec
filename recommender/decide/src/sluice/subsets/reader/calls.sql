-- The calls between two containers in each window that starts in [from_s, to_s).
SELECT
    toString(caller) AS upstream,
    toString(caller_instance) AS instance,
    toString(callee) AS downstream,
    toString(callee_instance) AS container,
    toUnixTimestamp(window) AS start_s,
    calls
FROM container_calls FINAL
WHERE window >= fromUnixTimestamp({from_s:Int64}) AND window < fromUnixTimestamp({to_s:Int64})
    AND caller_instance != '' AND callee_instance != ''
ORDER BY upstream, instance, downstream, container, start_s
