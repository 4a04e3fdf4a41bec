-- Which instances fell silent while others of their service went on? (nothing for a minute, something in the last hour)
SELECT service, instance, last_seen, completions_before
FROM
(
    SELECT
        service,
        instance,
        max(start) AS last_seen,
        sum(completions) AS completions_before,
        max(last_seen) OVER (PARTITION BY service) AS service_last_seen
    FROM v_windows_10s
    WHERE side = 'server' AND start >= now() - INTERVAL 1 HOUR
    GROUP BY service, instance
)
WHERE last_seen < now() - INTERVAL 70 SECOND AND service_last_seen >= now() - INTERVAL 70 SECOND
ORDER BY service, instance;
