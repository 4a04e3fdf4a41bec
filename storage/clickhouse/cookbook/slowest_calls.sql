-- Which calls between services are slowest, and how many fail? (last 10 minutes)
SELECT
    caller,
    callee,
    sum(calls) AS total,
    round(100 * sum(errors) / total, 2) AS error_percent,
    round(latency_quantile_ms(sumMap(latency), 0.5), 2) AS p50_ms,
    round(latency_quantile_ms(sumMap(latency), 0.99), 2) AS p99_ms
FROM call_edges FINAL
WHERE window >= now() - INTERVAL 10 MINUTE
GROUP BY caller, callee
ORDER BY p99_ms DESC
LIMIT 20;
