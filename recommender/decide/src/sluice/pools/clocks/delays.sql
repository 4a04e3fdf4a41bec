-- The delay of each instance's spans: the median of the newest windows' least delays, the least delay of all requested windows, and
-- the number of windows of each. Ages count from the newest window, by the broker's clock.
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
