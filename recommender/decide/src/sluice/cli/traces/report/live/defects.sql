-- What the stack did not count in [{from_ms}, {until_ms}) (Unix time): kind, cause, service or table, and how many.
SELECT 'left_out' AS kind, toString(rule) AS cause, '' AS name, sum(spans) AS number
FROM v_spans_left_out_between(from_ms = {from_ms:Int64}, until_ms = {until_ms:Int64})
GROUP BY cause
UNION ALL
SELECT 'dead_letter', toString(outcome), toString(service), toInt64(max(of_job))
FROM
(
    SELECT job, outcome, service, sum(spans + messages) AS of_job
    FROM ingest_counts FINAL
    WHERE NOT startsWith(outcome, 'accepted') AND received >= fromUnixTimestamp(intDiv({from_ms:Int64}, 1000))
    GROUP BY job, outcome, service
)
GROUP BY outcome, service
HAVING max(of_job) > 0
UNION ALL
SELECT 'refused_row', toString(reason), toString(table), sum(rows)
FROM rejected_rows FINAL
WHERE at >= fromUnixTimestamp64Milli({from_ms:Int64})
GROUP BY reason, table
UNION ALL
SELECT 'fragment', '', toString(root_service), sum(traces)
FROM critical_paths FINAL
WHERE NOT complete AND window >= fromUnixTimestamp(intDiv({from_ms:Int64}, 1000))
    AND window < fromUnixTimestamp(intDiv({until_ms:Int64}, 1000))
GROUP BY root_service
