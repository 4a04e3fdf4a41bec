-- Where do callers wait before a pool? Callers' p95 against the callee's own p95: the difference is queueing and network (last 5 minutes)
SELECT
    caller.service AS service,
    round(caller.p95_ms, 2) AS seen_by_callers_ms,
    round(own.p95_ms, 2) AS own_spans_ms,
    round(caller.p95_ms - own.p95_ms, 2) AS wait_ms
FROM
(
    SELECT peer AS service, latency_quantile_ms(sumMap(latency), 0.95) AS p95_ms
    FROM v_windows
    WHERE side = 'client' AND bucket >= now() - INTERVAL 5 MINUTE
    GROUP BY peer
) AS caller
INNER JOIN
(
    SELECT service, latency_quantile_ms(sumMap(latency), 0.95) AS p95_ms
    FROM v_windows
    WHERE side = 'server' AND bucket >= now() - INTERVAL 5 MINUTE
    GROUP BY service
) AS own ON caller.service = own.service
ORDER BY wait_ms DESC;
