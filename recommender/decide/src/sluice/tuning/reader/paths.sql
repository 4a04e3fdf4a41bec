-- End to end times of root operations per window of 10 s, of the windows within the requested spans of time.
-- `asked`: (number, service, operation, from_s, to_s). Complete paths only, since an orphan is not the whole request.
WITH
    asked AS
    (
        SELECT a.1 AS number, a.2 AS service, a.3 AS operation, a.4 AS from_s, a.5 AS to_s
        FROM (SELECT arrayJoin({asked:Array(Tuple(UInt32, String, String, Int64, Int64))}) AS a)
    ),
    windows_of_paths AS
    (
        SELECT
            toString(root_service) AS service, toString(root_operation) AS operation, toUnixTimestamp(window) AS second,
            sumMap(latency) AS latency
        FROM critical_paths FINAL
        WHERE complete AND window_s = {window_s:UInt16} AND root_service IN {services:Array(String)}
            AND window >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
            AND window < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
        GROUP BY service, operation, second
    )
SELECT number, second, mapKeys(latency) AS indices, mapValues(latency) AS counts
FROM windows_of_paths
INNER JOIN asked USING (service, operation)
WHERE second >= from_s AND second + {window_s:UInt16} <= to_s
ORDER BY number, second
