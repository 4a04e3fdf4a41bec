-- Utilization of each host, one row for each (host, window), for windows that start in [from_ms, until_ms), epoch milliseconds.
-- Utilizations are 0..1; unknown ones are NULL, never 0.
CREATE OR REPLACE VIEW v_host_utilization_between AS
SELECT
    host,
    window,
    window_s,
    multiIf((coalesce(
        1 - anyOrNullIf(value, role = 'host_cpu_idle'),
        anyOrNullIf(value, role = 'host_cpu_used') / nullIf(anyOrNullIf(value, role = 'host_cpu_cores'), 0)
    ) AS busy) < 0, 0, busy > 1, 1, busy) AS cpu_utilization,
    anyOrNullIf(value, role = 'host_memory_bandwidth') AS memory_bandwidth_bytes_per_s,
    anyOrNullIf(value, role = 'host_memory_bandwidth_utilization') AS memory_bandwidth_utilization,
    anyOrNullIf(value, role = 'host_network') AS network_bytes_per_s,
    anyOrNullIf(value, role = 'host_network_utilization') AS network_utilization
FROM v_resource_metrics_between(from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64})
WHERE startsWith(role, 'host_')
GROUP BY host, window, window_s
