// What is the longest chain of calls?
MATCH path = (first:Service)-[:CALLS*1..12]->(last:Service)
WHERE NOT (:Service)-[:CALLS]->(first) AND NOT (last)-[:CALLS]->(:Service)
RETURN [service IN nodes(path) | service.name] AS services, length(path) AS calls
ORDER BY calls DESC, services
LIMIT 10;
