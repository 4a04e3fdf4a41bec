-- Which service is critical for each operation? What it takes and what waits it causes, and how closely that moves with the end to end time (last 10 minutes)
SELECT
    root_service,
    root_operation,
    service,
    round(mean_self_ms, 2) AS mean_ms,
    round(mean_wait_ms, 2) AS wait_for_its_threads_ms,
    round(mean_blame_ms, 2) AS with_waits_it_causes_ms,
    round(100 * blame_of_end_to_end, 1) AS percent_of_end_to_end,
    round(blame_pearson, 3) AS correlation,
    round(blame_congestion_ratio, 2) AS p99_over_p50,
    round(p95_upstream_ms, 2) AS p95_of_all_above_ms
FROM v_critical_services(seconds = 600)
WHERE complete
ORDER BY root_service, root_operation, blame_pearson DESC NULLS LAST
LIMIT 50;
