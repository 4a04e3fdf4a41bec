-- What became of the spans that arrived, and why were some refused? (last hour)
SELECT job, outcome, service, sum(spans) AS spans, sum(messages) AS messages, max(received) AS newest
FROM ingest_counts FINAL
WHERE received >= now() - INTERVAL 1 HOUR
GROUP BY job, outcome, service
ORDER BY job, spans DESC;
