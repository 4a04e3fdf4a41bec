-- How many calls does a service make for each one that it gets? (last 10 minutes)
SELECT
    service,
    sum(calls * incoming) AS calls_in,
    sum(calls * (1 - incoming)) AS calls_out,
    round(calls_out / calls_in, 2) AS calls_per_call
FROM
(
    SELECT calls, arrayJoin([(callee, 1), (caller, 0)]) AS part, part.1 AS service, part.2 AS incoming
    FROM call_edges FINAL
    WHERE window >= now() - INTERVAL 10 MINUTE
)
GROUP BY service
HAVING calls_in > 0
ORDER BY calls_per_call DESC, service;
