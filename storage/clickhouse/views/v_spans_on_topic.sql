-- The spans on the topic since since_ms (epoch milliseconds), as counted by the job that is ahead of the others. Counts are per 10 s
-- of Kafka record time: at_least leaves out the 10 s of since_ms, at_most has them. Both count a span as often as it was sent;
-- `repeated` of them came with a repeated message.
CREATE OR REPLACE VIEW v_spans_on_topic AS
SELECT
    job,
    sum(c.spans) AS at_most,
    sumIf(c.spans, received >= fromUnixTimestamp64Milli({since_ms:Int64})) AS at_least,
    sumIf(c.spans, outcome = 'repeated_message') AS repeated
FROM ingest_counts AS c FINAL
WHERE received > fromUnixTimestamp64Milli({since_ms:Int64} - 10000) AND job != 'resource_metrics'
GROUP BY job
ORDER BY at_most DESC, job
LIMIT 1
