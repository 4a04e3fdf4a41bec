-- Which percentiles did a resize move? Callers' p50 and p99 a minute before and after each change of a server pool (last day)
SELECT
    a.at AS at,
    a.service AS service,
    a.previous AS size_before,
    a.read_back AS size_after,
    round(latency_quantile_ms(sumMapIf(w.latency, w.bucket < a.at), 0.5), 2) AS p50_before_ms,
    round(latency_quantile_ms(sumMapIf(w.latency, w.bucket >= a.at), 0.5), 2) AS p50_after_ms,
    round(latency_quantile_ms(sumMapIf(w.latency, w.bucket < a.at), 0.99), 2) AS p99_before_ms,
    round(latency_quantile_ms(sumMapIf(w.latency, w.bucket >= a.at), 0.99), 2) AS p99_after_ms
FROM v_actuation_history AS a
INNER JOIN (SELECT peer, bucket, latency FROM v_windows WHERE side = 'client' AND bucket >= now() - INTERVAL 1 DAY) AS w
    ON w.peer = a.service
WHERE a.side = 'server' AND a.outcome = 'APPLIED' AND a.at >= now() - INTERVAL 1 DAY
    AND w.bucket >= a.at - INTERVAL 60 SECOND AND w.bucket < a.at + INTERVAL 60 SECOND
GROUP BY at, service, size_before, size_after
ORDER BY at DESC;
