-- In which seconds did an instance fail most, and was it alone? (last hour, server spans)
SELECT at, service, instance, errors, completions, errors_of_others
FROM
(
    SELECT
        start AS at,
        service,
        instance,
        errors,
        completions,
        sum(errors) OVER (PARTITION BY service, start) - errors AS errors_of_others
    FROM v_windows_1s
    WHERE side = 'server' AND start >= now() - INTERVAL 1 HOUR
)
WHERE errors > 0
ORDER BY errors DESC, at DESC
LIMIT 20;
