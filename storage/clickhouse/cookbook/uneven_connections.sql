-- Do a service's instances use their connections to each peer evenly? Mean in flight of each instance (last 15 minutes)
SELECT
    service,
    peer,
    count() AS instances,
    round(avg(in_flight), 2) AS mean_in_flight,
    argMax(instance, in_flight) AS busiest,
    round(max(in_flight) / mean_in_flight, 2) AS busiest_to_mean,
    round(stddevPop(in_flight) / mean_in_flight, 2) AS variation
FROM
(
    SELECT service, peer, instance, sum(busy_ns) / 900e9 AS in_flight
    FROM v_windows_10s
    WHERE side = 'client' AND start >= now() - INTERVAL 15 MINUTE
    GROUP BY service, peer, instance
)
GROUP BY service, peer
ORDER BY variation DESC, service, peer;
