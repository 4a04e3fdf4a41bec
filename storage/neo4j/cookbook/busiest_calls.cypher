// Which calls between two services are the most frequent, how slow are they, and how often do they fail?
MATCH (caller:Service)-[call:CALLS]->(callee:Service)
RETURN caller.name AS caller, callee.name AS callee, call.rate_per_s AS calls_per_s,
       call.error_ratio AS error_ratio, call.p99_ms AS p99_ms
ORDER BY calls_per_s DESC, caller, callee
LIMIT 20;
