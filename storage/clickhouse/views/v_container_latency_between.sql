-- Samples of the Microns latency model: one row for each (service, instance, host, window) with requests, for windows that start
-- in [from_ms, until_ms), epoch milliseconds. ln_mean and ln_variance are of ln(latency in ns): a log-normal fit. Unknown metrics of
-- a host or container are NULL, never 0. The instance joins a container's metrics, the host a host's: spans and metrics must use the
-- same names.
CREATE OR REPLACE VIEW v_container_latency_between AS
WITH
    metrics AS
    (
        SELECT * FROM v_resource_metrics_between(from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64})
    ),
    hosts AS
    (
        SELECT * FROM v_host_utilization_between(from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64})
    ),
    containers AS
    (
        SELECT
            instance,
            window,
            window_s,
            anyOrNullIf(value, role = 'container_cpu') AS cpu,
            anyOrNullIf(value, role = 'container_cpu_limit') AS cpu_limit
        FROM metrics
        WHERE startsWith(role, 'container_')
        GROUP BY instance, window, window_s
    ),
    samples AS
    (
        SELECT * FROM container_latency FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
    )
SELECT
    s.service AS service,
    s.instance AS instance,
    s.host AS host,
    s.window AS window,
    s.window_s AS window_s,
    s.requests AS requests,
    s.errors AS errors,
    s.requests / s.window_s AS requests_per_s,
    s.ln_sum / 1e9 / s.requests AS ln_mean,
    greatest(0, s.ln_sum2 / 1e9 / s.requests - ln_mean * ln_mean) AS ln_variance,
    latency_quantile_ms(s.latency, 0.5) AS p50_ms,
    latency_quantile_ms(s.latency, 0.95) AS p95_ms,
    latency_quantile_ms(s.latency, 0.99) AS p99_ms,
    h.cpu_utilization AS host_cpu_utilization,
    h.memory_bandwidth_bytes_per_s AS host_memory_bandwidth_bytes_per_s,
    h.memory_bandwidth_utilization AS host_memory_bandwidth_utilization,
    h.network_bytes_per_s AS host_network_bytes_per_s,
    h.network_utilization AS host_network_utilization,
    c.cpu AS container_cpu_cores,
    c.cpu_limit AS container_cpu_limit_cores,
    c.cpu / nullIf(c.cpu_limit, 0) AS container_cpu_utilization,
    s.latency AS latency
FROM samples AS s
LEFT JOIN hosts AS h ON h.host = s.host AND h.window = s.window AND h.window_s = s.window_s
LEFT JOIN containers AS c ON c.instance = s.instance AND c.window = s.window AND c.window_s = s.window_s
