-- Of each service under a root operation: traces, those whose critical path leads through it, its own time on the path, and
-- sums of its service times, as the pipeline saw them in the last {seconds} s. Sums as text: JSON has no 128 bit integers.
WITH
    fromUnixTimestamp64Milli(toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:Int64}) AS since,
    (
        SELECT sum(traces) FROM critical_paths FINAL
        WHERE complete AND window > since - INTERVAL 1 HOUR AND window > since - toIntervalSecond(window_s) AND root_service = {service:String}
            AND ({operation:String} = '' OR root_operation = {operation:String})
    ) AS all_traces
SELECT
    toString(service) AS service,
    toString(any(all_traces)) AS root_traces,
    toString(sum(traces)) AS on_path,
    toString(sum(toUInt128(self_sum))) AS own,
    toString(sum(self_sum2)) AS own2
FROM path_services FINAL
WHERE complete AND window > since - INTERVAL 1 HOUR AND window > since - toIntervalSecond(window_s) AND root_service = {service:String}
    AND ({operation:String} = '' OR root_operation = {operation:String})
GROUP BY service
ORDER BY service
