-- Spans of the collectors and on the topic per minute, for minutes that start in [from_ms, until_ms), epoch milliseconds.
--   accepted, refused, sent, failed   the collectors' own counters: acknowledged to senders, refused to them, acknowledged by Kafka,
--                                     given up. A counter that restarts with its process starts at 0 here too.
--   on_topic, repeated                counts of the job that is ahead of the others; `repeated` of these came with a repeated message
--   missing                           accepted - failed - on_topic, summed from the first minute on: spans that wait, spans between
--                                     two readings of the counters (10 s), and lost spans. Without traffic, a value above 0 is lost.
-- Some spans lower `missing`, and can hide as many lost ones: spans that a collector sent again (at most `repeated`), spans of other
-- producers, and spans accepted before the first minute or in the last 10 s of a killed process.
CREATE OR REPLACE VIEW v_span_balance_between AS
WITH
    counters AS
    (
        SELECT
            instance,
            role,
            series,
            window,
            value_max - lagInFrame(value_max) OVER (
                PARTITION BY role, instance, series ORDER BY window ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
            ) AS grown
        FROM
        (
            -- The last reading before the first minute is a counter's initial value.
            SELECT role, instance, series, window, max(value_max) AS value_max
            FROM resource_metrics FINAL
            WHERE startsWith(role, 'collector_spans_') AND series != '(more)' AND window < fromUnixTimestamp64Milli({until_ms:Int64})
                AND window >= fromUnixTimestamp64Milli(greatest(0, {from_ms:Int64} - 86400000))
            GROUP BY role, instance, series, window
        )
    ),
    collected AS
    (
        SELECT
            toStartOfMinute(window) AS minute,
            sumIf(grown, role = 'collector_spans_accepted') AS accepted,
            sumIf(grown, role = 'collector_spans_refused') AS refused,
            sumIf(grown, role = 'collector_spans_sent') AS sent,
            sumIf(grown, role = 'collector_spans_failed') AS failed
        FROM counters
        -- Other collectors, which do not write to the topic, may also report the spans that they accept.
        WHERE instance IN (SELECT instance FROM resource_metrics WHERE role = 'collector_spans_sent')
            AND window >= fromUnixTimestamp64Milli({from_ms:Int64})
        GROUP BY minute
    ),
    counted AS
    (
        SELECT minute, max(job_spans) AS on_topic, argMax(job_repeated, job_spans) AS repeated
        FROM
        (
            SELECT
                job,
                toStartOfMinute(received) AS minute,
                sum(spans) AS job_spans,
                sumIf(spans, outcome = 'repeated_message') AS job_repeated
            FROM ingest_counts FINAL
            WHERE job != 'resource_metrics' AND received >= fromUnixTimestamp64Milli({from_ms:Int64})
                AND received < fromUnixTimestamp64Milli({until_ms:Int64})
            GROUP BY job, minute
        )
        GROUP BY minute
    )
SELECT
    minute,
    sum(accepted) AS accepted,
    sum(refused) AS refused,
    sum(sent) AS sent,
    sum(failed) AS failed,
    sum(on_topic) AS on_topic,
    sum(repeated) AS repeated,
    sum(accepted - failed - on_topic) OVER (ORDER BY minute) AS missing
FROM
(
    SELECT minute, accepted, refused, sent, failed, 0 AS on_topic, 0 AS repeated FROM collected
    UNION ALL
    SELECT minute, 0, 0, 0, 0, on_topic, repeated FROM counted
)
GROUP BY minute
ORDER BY minute
