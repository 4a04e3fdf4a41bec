-- The services on the complete critical paths of each root operation, and how busy the busiest instance of each was, in the
-- windows that reach into the last {seconds} s; the least size of its threads in force, as the decider's answers have it
-- once a minute, and the most of its requests in flight in one instance; the p95 of the operation. Sums as text: JSON has no 128 bit integers.
-- An hour is longer than any window: a bound without a column leaves out the partitions of other days.
-- What is usual: the median over the windows of the hour before, of a service's blame a request, and their sum over the services. A
-- window whose paths do not have the service counts as 0. Fewer than 6 windows show nothing.
WITH
    fromUnixTimestamp64Milli(toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:Int64}) AS since,
    cpu AS
    (
        SELECT service, max(used) AS cpu
        FROM
        (
            SELECT service, instance, avg(container_cpu_utilization) AS used
            FROM v_container_latency_between(
                from_ms = toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:Int64} - 10000,
                until_ms = toUnixTimestamp64Milli(now64(3)) + 600000)
            WHERE container_cpu_utilization IS NOT NULL
            GROUP BY service, instance
        )
        GROUP BY service
    ),
    pools AS
    (
        SELECT service, min(current) AS size
        FROM recommendations
        WHERE side = 'server' AND at > since - toIntervalSecond(120) AND current IS NOT NULL
        GROUP BY service
    ),
    in_flight AS
    (
        SELECT service, max(highest_concurrency) AS most
        FROM v_windows_10s
        WHERE side = 'server' AND start > since - toIntervalSecond(10)
        GROUP BY service
    ),
    ends AS
    (
        SELECT root_service, root_operation, latency_quantile_ms(sumMap(latency), 0.95) AS p95
        FROM critical_paths FINAL
        WHERE complete AND window > since - INTERVAL 1 HOUR AND window > since - toIntervalSecond(window_s)
          AND ({service:String} = '' OR root_service = {service:String})
          AND ({operation:String} = '' OR root_operation = {operation:String})
        GROUP BY root_service, root_operation
    ),
    paths AS
    (
        SELECT
            root_service,
            root_operation,
            service,
            sum(traces) AS n,
            toString(sum(toUInt128(blame_sum))) AS blame,
            toString(sum(blame_sum2)) AS blame2,
            toString(sum(toUInt128(e2e_sum))) AS e2e,
            toString(sum(e2e_sum2)) AS e2e2,
            toString(sum(blame_x_e2e)) AS product,
            toString(sum(toUInt128(self_sum))) AS self,
            toString(sum(toUInt128(wait_sum))) AS wait,
            sumMap(blame_latency) AS latency
        FROM path_services FINAL
        WHERE complete AND window > since - INTERVAL 1 HOUR AND window > since - toIntervalSecond(window_s)
          AND ({service:String} = '' OR root_service = {service:String})
          AND ({operation:String} = '' OR root_operation = {operation:String})
        GROUP BY root_service, root_operation, service
    ),
    windows_before AS
    (
        SELECT
            root_service, root_operation, window, sum(traces) AS n,
            count() OVER (PARTITION BY root_service, root_operation) AS windows
        FROM critical_paths FINAL
        WHERE complete AND window > since - INTERVAL 1 HOUR AND window <= since - toIntervalSecond(window_s)
          AND ({service:String} = '' OR root_service = {service:String})
          AND ({operation:String} = '' OR root_operation = {operation:String})
        GROUP BY root_service, root_operation, window
    ),
    blame_before AS
    (
        SELECT root_service, root_operation, service, window, sum(toFloat64(blame_sum)) AS blame
        FROM path_services FINAL
        WHERE complete AND window > since - INTERVAL 1 HOUR AND window <= since - toIntervalSecond(window_s)
          AND ({service:String} = '' OR root_service = {service:String})
          AND ({operation:String} = '' OR root_operation = {operation:String})
        GROUP BY root_service, root_operation, service, window
    ),
    usual AS
    (
        SELECT
            root_service, root_operation, service,
            arrayReduce('median', arrayResize(groupArray(blame / n), any(windows), 0.)) / 1e6 AS blame_ms,
            sum(blame_ms) OVER (PARTITION BY root_service, root_operation) AS e2e_ms
        FROM blame_before
        INNER JOIN windows_before USING (root_service, root_operation, window)
        WHERE windows >= 6
        GROUP BY root_service, root_operation, service
    )
SELECT
    toString(p.root_service) AS root_service, toString(p.root_operation) AS root_operation, toString(p.service) AS service,
    toString(n) AS traces, blame, blame2, e2e, e2e2, product, self, wait,
    latency_quantile_ms(latency, 0.5) AS p50_ms,
    latency_quantile_ms(latency, 0.99) AS p99_ms,
    cpu.cpu AS cpu,
    pools.size AS pool,
    in_flight.most AS in_flight,
    ends.p95 AS e2e_p95_ms,
    usual.blame_ms AS usual_ms,
    usual.e2e_ms AS usual_e2e_ms
FROM paths AS p
LEFT JOIN cpu ON cpu.service = p.service
LEFT JOIN pools ON pools.service = p.service
LEFT JOIN in_flight ON in_flight.service = p.service
LEFT JOIN ends ON ends.root_service = p.root_service AND ends.root_operation = p.root_operation
LEFT JOIN usual ON usual.root_service = p.root_service AND usual.root_operation = p.root_operation AND usual.service = p.service
ORDER BY root_service, root_operation, service
SETTINGS join_use_nulls = 1
