-- Did resizing help? Goodput within the recommendation's threshold a minute before and after each change (callers' spans of server pools)
SELECT
    a.at AS at,
    a.service AS service,
    a.previous AS size_before,
    a.read_back AS size_after,
    round(sumIf(latency_within(w.latency, ifNull(a.threshold_ms, 250)), w.bucket < a.at) / 60, 1) AS goodput_before_per_s,
    round(sumIf(latency_within(w.latency, ifNull(a.threshold_ms, 250)), w.bucket >= a.at) / 60, 1) AS goodput_after_per_s
FROM v_actuation_history AS a
INNER JOIN (SELECT peer, bucket, latency FROM v_windows WHERE side = 'client' AND bucket >= now() - INTERVAL 1 DAY) AS w
    ON w.peer = a.service
WHERE a.side = 'server' AND a.outcome = 'APPLIED' AND a.at >= now() - INTERVAL 1 DAY
    AND w.bucket >= a.at - INTERVAL 60 SECOND AND w.bucket < a.at + INTERVAL 60 SECOND
GROUP BY at, service, size_before, size_after
ORDER BY at DESC;
