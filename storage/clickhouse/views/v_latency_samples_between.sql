-- Training samples of the latency model of subsets: the own time of each container (without its waits for others) with its host's
-- utilization, one row for each (service, instance, host, window) with requests, for windows that start in [from_ms, until_ms),
-- epoch milliseconds. mu and sigma are of ln(ms). Utilizations are 0..1; NULL: unknown.
CREATE OR REPLACE VIEW v_latency_samples_between AS
WITH
    hosts AS
    (
        SELECT * FROM v_host_utilization_between(from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64})
    ),
    samples AS
    (
        SELECT * FROM container_own_time FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
    )
SELECT
    s.service AS service,
    s.instance AS instance,
    s.host AS host,
    s.window AS window,
    s.window_s AS window_s,
    s.requests AS requests,
    s.requests / s.window_s AS rate_per_s,
    s.ln_sum / 1e9 / s.requests - log(1e6) AS mu,
    sqrt(greatest(0, s.ln_sum2 / 1e9 / s.requests - pow(s.ln_sum / 1e9 / s.requests, 2))) AS sigma,
    h.cpu_utilization AS cpu,
    h.memory_bandwidth_utilization AS memory_bandwidth,
    h.network_utilization AS network
FROM samples AS s
LEFT JOIN hosts AS h ON h.host = s.host AND h.window = s.window AND h.window_s = s.window_s
