-- Does a busy host slow its containers? Median latency by the host's CPU utilization, in steps of 10 % (last hour)
SELECT
    service,
    floor(host_cpu_utilization * 10) / 10 AS host_cpu_from,
    uniqExact(instance) AS instances,
    sum(requests) AS completed,
    round(avg(requests_per_s), 1) AS rate_per_instance,
    round(latency_quantile_ms(sumMap(latency), 0.5), 2) AS p50_ms,
    round(latency_quantile_ms(sumMap(latency), 0.95), 2) AS p95_ms
FROM v_container_latency
WHERE window >= now() - INTERVAL 1 HOUR AND host_cpu_utilization IS NOT NULL
GROUP BY service, host_cpu_from
ORDER BY service, host_cpu_from;
