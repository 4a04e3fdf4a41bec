-- Which ways do the requests of each operation take, and which one makes them slow? (last 10 minutes)
SELECT
    root_service,
    root_operation,
    signature,
    traces,
    round(100 * share, 1) AS percent,
    round(p50_ms, 2) AS p50,
    round(p95_ms, 2) AS p95,
    median_trace_id,
    slowest_trace_id
FROM v_critical_path(seconds = 600)
WHERE complete
LIMIT 20;
