-- Whose spans are lost, what share of all, to which cause, since when? (last day; a message that cannot be decoded counts apart)
SELECT *
FROM
(
    SELECT
        job,
        outcome AS cause,
        service,
        sum(c.spans) AS spans,
        sum(c.messages) AS messages,
        round(100 * sum(c.spans) / sum(sum(c.spans)) OVER (PARTITION BY job), 3) AS percent_of_read,
        min(received) AS since,
        argMax(received, c.spans + c.messages) AS worst,
        max(received) AS newest
    FROM ingest_counts AS c FINAL
    WHERE received >= now() - INTERVAL 1 DAY
    GROUP BY job, outcome, service
)
WHERE NOT startsWith(cause, 'accepted')
ORDER BY job, spans DESC, messages DESC;
