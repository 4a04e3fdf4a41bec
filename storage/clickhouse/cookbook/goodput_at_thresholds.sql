-- What would each service's goodput have been, per second, under other response-time thresholds? (last 10 minutes, own spans)
SELECT
    service,
    round(sum(latency_within(latency, 50)) / seconds, 1) AS within_50_ms,
    round(sum(latency_within(latency, 100)) / seconds, 1) AS within_100_ms,
    round(sum(latency_within(latency, 250)) / seconds, 1) AS within_250_ms,
    round(sum(latency_within(latency, 1000)) / seconds, 1) AS within_1_s,
    round(sum(completions) / seconds, 1) AS completions_per_s,
    dateDiff('second', min(bucket), max(bucket)) + 1 AS seconds
FROM v_windows
WHERE side = 'server' AND bucket >= now() - INTERVAL 10 MINUTE
GROUP BY service
ORDER BY service;
