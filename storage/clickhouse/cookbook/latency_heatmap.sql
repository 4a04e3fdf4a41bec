-- How are response times spread, and when does a second hump appear? Completions by minute and factor of two (last hour; name the service)
SELECT
    start AS at,
    round(exp2(floor(index / 64)) / 1e6, 3) AS above_ms,
    round(exp2(floor(index / 64) + 1) / 1e6, 3) AS up_to_ms,
    sum(count) AS completed
FROM v_windows_1m
ARRAY JOIN mapKeys(latency) AS index, mapValues(latency) AS count
WHERE service = 'cart' AND side = 'server' AND start >= now() - INTERVAL 1 HOUR
GROUP BY at, above_ms, up_to_ms
ORDER BY at, above_ms;
