-- Concurrency and goodput of one pool in each bucket of a time range [from_ms, until_ms), epoch milliseconds.
-- Both are per instance: a mean over the instances with work in the bucket. (An instance whose span ended exactly at the start of
-- the bucket had none.) The latency source is one level up, where the wait for the pool is visible: callers' CLIENT spans for a
-- server pool, the service's own SERVER spans for a client pool. Without such spans in the range, and for a consumer pool, it is the
-- pool's own spans (column latency_source).
CREATE OR REPLACE VIEW v_goodput_buckets AS
WITH
    own AS
    (
        SELECT
            bucket,
            bucket_ms,
            uniqExactIf(instance, busy_ns > 0) AS instances,
            sum(concurrency) / instances AS concurrency,
            sum(completions) AS completed,
            sum(latency_within(latency, {threshold_ms:Float64})) AS good
        FROM v_windows
        WHERE service = {service:String} AND side = CAST({side:String}, 'Enum8(\'server\' = 1, \'client\' = 2, \'consumer\' = 3)') AND peer = {peer:String}
            AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64})
            AND bucket < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY bucket, bucket_ms
        HAVING sum(busy_ns) > 0
    ),
    caller AS
    (
        SELECT
            bucket,
            bucket_ms,
            sum(completions) AS completed,
            sum(latency_within(latency, {threshold_ms:Float64})) AS good
        FROM v_windows
        WHERE multiIf({side:String} = 'server', side = 'client' AND peer = {service:String},
                      {side:String} = 'client', side = 'server' AND service = {service:String}, false)
            AND bucket >= fromUnixTimestamp64Milli({from_ms:Int64})
            AND bucket < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY bucket, bucket_ms
    ),
    (SELECT sum(completed) FROM caller) > 0 AS by_caller
SELECT
    own.bucket AS bucket,
    own.bucket_ms AS bucket_ms,
    own.instances AS instances,
    own.concurrency AS concurrency,
    if(by_caller, caller.good, own.good) / own.instances / (own.bucket_ms / 1000) AS goodput_per_s,
    if(by_caller, caller.completed, own.completed) / own.instances / (own.bucket_ms / 1000) AS throughput_per_s,
    if(by_caller, 'caller', 'own') AS latency_source
FROM own
LEFT JOIN caller ON own.bucket = caller.bucket AND own.bucket_ms = caller.bucket_ms
