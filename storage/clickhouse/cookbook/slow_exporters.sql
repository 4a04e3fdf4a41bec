-- Which services send their spans late? Mean time from a span's end to its record on the topic (last 10 minutes)
SELECT
    service,
    sum(c.spans) AS spans,
    round(sum(c.emit_lag_ms) / spans) AS mean_lag_ms
FROM ingest_counts AS c FINAL
WHERE job = 'concurrency' AND startsWith(outcome, 'accepted') AND received >= now() - INTERVAL 10 MINUTE
GROUP BY service
HAVING spans > 0
ORDER BY mean_lag_ms DESC;
