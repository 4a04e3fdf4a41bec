-- Is load even over a service's instances? Mean and highest concurrency of each, against the mean of all (last 5 minutes)
SELECT
    side,
    service,
    peer,
    instance,
    round(avg(concurrency), 2) AS mean_in_flight,
    round(max(concurrency), 2) AS most_in_flight,
    round(mean_in_flight / avg(avg(concurrency)) OVER (PARTITION BY side, service, peer), 2) AS share_of_mean
FROM v_windows
WHERE bucket >= now() - INTERVAL 5 MINUTE
GROUP BY side, service, peer, instance
ORDER BY service, side, peer, mean_in_flight DESC;
