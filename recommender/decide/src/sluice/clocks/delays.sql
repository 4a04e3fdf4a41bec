-- How late the spans of each instance come: the median of what the newest windows say that it is at least, the least of all that
-- are asked for, and of how many windows that is. Ages count from the newest window that there is, by the broker's clock.
WITH (SELECT max(window) FROM instance_clocks WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')) AS newest
SELECT
    toString(service) AS service,
    toString(instance) AS instance,
    toInt64(quantileExactLowIf(0.5)(least_ms, window > newest - INTERVAL {recent_s:UInt16} SECOND)) AS usual_ms,
    countIf(window > newest - INTERVAL {recent_s:UInt16} SECOND) AS recent,
    min(least_ms) AS least,
    count() AS windows
FROM instance_clocks FINAL
WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND window > newest - INTERVAL {lasts_s:UInt16} SECOND
GROUP BY service, instance
HAVING recent > 0
ORDER BY service, instance
