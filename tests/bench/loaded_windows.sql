-- Windows of all pools for the buckets from..until, from the drawn curves in `bench_curves`, which repeat every `length` buckets.
-- Completions within the threshold lie in up to 8 buckets of latency, the others in up to 4: the sum of (n + i) div 8 over
-- i = 0..7 is n. Each pool has a caller, and each caller calls ten services.
INSERT INTO windows (side, service, peer, instance, bucket, bucket_ms, busy_ns, completions, errors, latency, version)
WITH
    concat('service-', leftPad(toString(number), 5, '0')) AS name,
    arrayJoin(['server', 'client']) AS part,
    done - good AS bad,
    toInt64({from:Int64} + positiveModulo(at - {from:Int64}, {length:Int64})) AS bucket_number,
    mapConcat(
        mapFromArrays(arrayMap(i -> toInt16({fast:Int16} - i), range(8)), arrayMap(i -> toUInt32(intDiv(good + i, 8)), range(8))),
        mapFromArrays(arrayMap(i -> toInt16({slow:Int16} + i), range(4)), arrayMap(i -> toUInt32(intDiv(bad + i, 4)), range(4)))
    ) AS spread
SELECT
    part,
    if(part = 'server', name, concat('caller-', leftPad(toString(intDiv(number, 10)), 4, '0'))),
    if(part = 'server', '', name),
    'instance-1',
    fromUnixTimestamp64Milli(toInt64({start_ms:Int64} + bucket_number * {bucket_ms:UInt16}), 'UTC'),
    {bucket_ms:UInt16}, busy_ns, done, 0, mapFilter((index, n) -> n > 0, spread), {version:UInt64}
FROM bench_curves
INNER JOIN
(
    SELECT number, toUInt32(number % {curves:UInt32}) AS curve
    FROM numbers({pools:UInt64})
) AS pool USING (curve)
WHERE bucket_number < {until:Int64}
