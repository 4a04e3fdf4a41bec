-- When did requests begin to queue before a service? Callers' p99 against its own p99, by minute (last hour; name the service)
SELECT
    start AS at,
    round(latency_quantile_ms(sumMapIf(latency, side = 'client'), 0.99), 2) AS seen_by_callers_ms,
    round(latency_quantile_ms(sumMapIf(latency, side = 'server'), 0.99), 2) AS own_spans_ms,
    round(seen_by_callers_ms - own_spans_ms, 2) AS wait_ms
FROM v_windows_1m
WHERE (side = 'server' AND service = 'cart' OR side = 'client' AND peer = 'cart') AND start >= now() - INTERVAL 1 HOUR
GROUP BY at
ORDER BY at;
