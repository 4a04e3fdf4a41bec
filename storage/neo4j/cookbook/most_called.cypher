// Which services are called most, and by how many others?
MATCH (caller:Service)-[call:CALLS]->(callee:Service)
RETURN callee.name AS service, sum(call.rate_per_s) AS calls_per_s, count(caller) AS callers
ORDER BY calls_per_s DESC
LIMIT 20;
