-- The lag of each stage in milliseconds; NULL without data of the last minute.
--   emit to kafka        from a span's end to its record on the topic, the mean of the last minute's spans
--   kafka to clickhouse  from the end of 10 s of records to their last upsert, the mean of the last minute's; exact to the interval
--                        between records, and NULL if the records ended before the 10 s did
--   newest window        from the end of the newest window to now
--   recommendation data  from the newest window behind the newest decision to that decision
--   recommendation       from the newest decision to now: a row for each change, and one a minute
CREATE OR REPLACE VIEW v_stage_lag AS
WITH
    now64(3) AS moment,
    (
        SELECT if(sum(spans) = 0, NULL, sum(emit_lag_ms) / sum(spans))
        FROM ingest_counts FINAL
        WHERE startsWith(outcome, 'accepted') AND received >= now() - 60
    ) AS emit_ms,
    (
        SELECT avgOrNull(written_ms - end_ms)
        FROM
        (
            SELECT
                received,
                max(toUnixTimestamp64Milli(written)) AS written_ms,
                1000 * (toUnixTimestamp(received) + 10) AS end_ms
            FROM ingest_counts FINAL
            WHERE received >= now() - 60
            GROUP BY received
        )
        WHERE written_ms >= end_ms
    ) AS write_ms,
    (
        SELECT maxOrNull(toUnixTimestamp64Milli(bucket) + bucket_ms)
        FROM windows
        WHERE bucket >= (SELECT max(bucket) FROM windows) - 2
    ) AS window_end_ms,
    (SELECT maxOrNull(at) FROM recommendations) AS recommended,
    (SELECT maxOrNull(newest_bucket) FROM recommendations WHERE at = (SELECT max(at) FROM recommendations)) AS seen
SELECT
    tupleElement(row, 1) AS stage,
    tupleElement(row, 2) AS lag_ms
FROM
(
    SELECT arrayJoin([
        ('emit to kafka', CAST(emit_ms, 'Nullable(Float64)')),
        ('kafka to clickhouse', CAST(write_ms, 'Nullable(Float64)')),
        ('newest window', CAST(toUnixTimestamp64Milli(moment) - window_end_ms, 'Nullable(Float64)')),
        ('recommendation data', CAST(toUnixTimestamp64Milli(recommended) - toUnixTimestamp64Milli(seen), 'Nullable(Float64)')),
        ('recommendation', CAST(toUnixTimestamp64Milli(moment) - toUnixTimestamp64Milli(recommended), 'Nullable(Float64)'))
    ]) AS row
)
