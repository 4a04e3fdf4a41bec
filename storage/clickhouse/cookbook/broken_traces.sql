-- How many traces come late, incomplete or otherwise broken, and from which service? (last hour, in percent of its traces)
SELECT
    service,
    cause,
    sum(traces) AS n,
    round(100 * n / any(seen), 2) AS percent,
    sum(spans) AS spans
FROM trace_counts FINAL
INNER JOIN
(
    SELECT service, sum(traces) AS seen
    FROM trace_counts FINAL
    WHERE cause IN ('closed_quiet', 'closed_max_age', 'closed_early') AND received >= now() - INTERVAL 1 HOUR
    GROUP BY service
) AS closed USING (service)
WHERE cause != 'closed_quiet' AND received >= now() - INTERVAL 1 HOUR
GROUP BY service, cause
ORDER BY n DESC
LIMIT 20;
