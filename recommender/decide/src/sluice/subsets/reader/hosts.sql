-- Mean utilization of each host over the windows since `from_ms`; NULL where nothing reports it.
SELECT
    toString(host) AS host,
    avg(cpu_utilization) AS cpu,
    avg(memory_bandwidth_utilization) AS memory_bandwidth,
    avg(network_utilization) AS network
FROM v_host_utilization_between(from_ms = {from_ms:Int64}, until_ms = {to_ms:Int64})
GROUP BY host
ORDER BY host
