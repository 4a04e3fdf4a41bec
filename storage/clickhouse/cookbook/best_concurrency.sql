-- At how many requests in flight did each server pool complete most within 250 ms? (last 15 minutes, own spans, an instance)
SELECT
    service,
    argMax(level, goodput_per_s) AS best_in_flight,
    round(max(goodput_per_s), 1) AS best_goodput_per_s,
    max(level) AS most_in_flight,
    sum(samples) AS buckets
FROM
(
    SELECT
        service,
        round(concurrency) AS level,
        sum(latency_within(latency, 250)) / sum(bucket_ms / 1000) AS goodput_per_s,
        count() AS samples
    FROM v_windows
    WHERE side = 'server' AND bucket >= now() - INTERVAL 15 MINUTE
    GROUP BY service, level
    HAVING samples >= 10
)
GROUP BY service
ORDER BY service;
