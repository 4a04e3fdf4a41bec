-- How busy each host was on average over the windows since `from_ms`; NULL where nothing tells.
SELECT
    toString(host) AS host,
    avg(cpu_utilization) AS cpu,
    avg(memory_bandwidth_utilization) AS memory_bandwidth,
    avg(network_utilization) AS network
FROM v_host_utilization_between(from_ms = {from_ms:Int64}, until_ms = {to_ms:Int64})
GROUP BY host
ORDER BY host
