-- Which records were deleted before they were read, by topic and partition, and when was that noticed? (last 30 days)
SELECT
    flink_job,
    topic,
    partition,
    first_missing,
    first_read,
    first_read - first_missing AS records,
    received AS next_record_at,
    written AS noticed
FROM offset_gaps FINAL
WHERE written >= now() - INTERVAL 30 DAY
ORDER BY written DESC;
