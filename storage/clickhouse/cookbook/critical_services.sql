-- Which service is critical for each operation? Its share of the end to end time, and how closely it moves with it (last 10 minutes)
SELECT
    root_service,
    root_operation,
    service,
    round(mean_self_ms, 2) AS mean_ms,
    round(100 * share_of_end_to_end, 1) AS percent_of_end_to_end,
    round(pearson, 3) AS correlation,
    round(congestion_ratio, 2) AS p99_over_p50,
    round(p95_upstream_ms, 2) AS p95_of_all_above_ms
FROM v_critical_services(seconds = 600)
WHERE complete
ORDER BY root_service, root_operation, pearson DESC NULLS LAST
LIMIT 50;
