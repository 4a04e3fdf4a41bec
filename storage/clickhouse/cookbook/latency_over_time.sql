-- How did a service's latency move? p50, p95, p99 of its own spans every 10 s (last 15 minutes; name the service)
SELECT
    toStartOfInterval(bucket, INTERVAL 10 SECOND) AS at,
    sum(completions) AS completed,
    round(latency_quantile_ms(sumMap(latency), 0.5), 2) AS p50_ms,
    round(latency_quantile_ms(sumMap(latency), 0.95), 2) AS p95_ms,
    round(latency_quantile_ms(sumMap(latency), 0.99), 2) AS p99_ms
FROM v_windows
WHERE service = 'cart' AND side = 'server' AND bucket >= now() - INTERVAL 15 MINUTE
GROUP BY at
ORDER BY at;
