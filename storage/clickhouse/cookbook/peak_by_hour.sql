-- At what time of the day is a pool fullest? Peak of each hour over the last 7 days, an instance (name the pool)
SELECT
    toHour(start) AS hour_utc,
    round(max(highest_concurrency), 1) AS peak,
    argMax(start, highest_concurrency) AS peak_at,
    round(quantileExact(0.95)(highest_concurrency), 1) AS p95_of_minutes,
    round(avg(concurrency), 2) AS mean_in_flight
FROM v_windows_1m
WHERE service = 'cart' AND side = 'server' AND peer = '' AND start >= now() - INTERVAL 7 DAY
GROUP BY hour_utc
ORDER BY hour_utc;
