-- The SERVER spans of services in each second of the requested spans of time, all instances together.
-- `asked`: (number, service, from_s, to_s), of [from_s, to_s). Where several lengths of buckets are stored, the shortest counts.
WITH
    asked AS
    (
        SELECT a.1 AS number, a.2 AS service, a.3 AS from_s, a.4 AS to_s
        FROM (SELECT arrayJoin({asked:Array(Tuple(UInt32, String, Int64, Int64))}) AS a)
    ),
    seconds AS
    (
        SELECT
            toString(service) AS service, toUnixTimestamp(toDateTime(bucket, 'UTC')) AS second, bucket_ms,
            sum(errors) AS errors, sumMap(latency) AS latency
        FROM windows FINAL
        WHERE side = 'server' AND peer = '' AND service IN {services:Array(String)}
            AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
            AND bucket < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
        GROUP BY service, second, bucket_ms
        ORDER BY bucket_ms
        LIMIT 1 BY service, second
    )
SELECT number, second, toUInt64(errors) AS failed, mapKeys(latency) AS indices, mapValues(latency) AS counts
FROM seconds
INNER JOIN asked USING (service)
WHERE second >= from_s AND second < to_s
ORDER BY number, second
