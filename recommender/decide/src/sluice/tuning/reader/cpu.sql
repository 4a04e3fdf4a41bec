-- Containers of services by windows of 10 s: whether each had requests, and the cores that it used, NULL where no point of it lies in
-- the window.
WITH
    busy AS
    (
        SELECT DISTINCT toString(service) AS service, toString(instance) AS instance, window
        FROM container_latency FINAL
        WHERE service IN {services:Array(String)} AND window_s = {window_s:UInt16}
            AND window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
            AND window < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
    ),
    metrics AS
    (
        SELECT toString(instance) AS instance, window, value
        FROM v_resource_metrics_between(from_ms = {from_ms:Int64}, until_ms = {to_ms:Int64})
        WHERE role = 'container_cpu' AND window_s = {window_s:UInt16}
    ),
    told AS
    (
        SELECT service, instance, window, true AS worked, CAST(NULL AS Nullable(Float64)) AS cores FROM busy
        UNION ALL
        SELECT c.service, c.instance, m.window, false, m.value
        FROM (SELECT DISTINCT service, instance FROM busy) AS c
        INNER JOIN metrics AS m ON m.instance = c.instance
    )
SELECT service, instance, toUnixTimestamp(window) AS second, max(worked) AS worked_then, anyOrNull(cores) AS used
FROM told
GROUP BY service, instance, second
ORDER BY service, instance, second
