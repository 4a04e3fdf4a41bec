-- The goodput curve of one pool over a time range [from_ms, until_ms), epoch milliseconds: means of the buckets of
-- v_goodput_buckets per level of concurrency (rounded to whole requests in flight).
CREATE OR REPLACE VIEW v_goodput_curve_between AS
SELECT
    avg(b.concurrency) AS concurrency,
    avg(b.goodput_per_s) AS goodput_per_s,
    avg(b.throughput_per_s) AS throughput_per_s,
    count() AS samples,
    any(b.latency_source) AS latency_source
FROM v_goodput_buckets(
    service = {service:String}, side = {side:String}, peer = {peer:String}, threshold_ms = {threshold_ms:Float64},
    from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64}) AS b
GROUP BY floor(b.concurrency + 0.5)
ORDER BY concurrency
