// Who depends on a service, through whom, and over how many calls? (name the service)
MATCH (service:Service {name: 'cart'}), (caller:Service)
WHERE caller <> service
MATCH path = shortestPath((caller)-[:CALLS*]->(service))
RETURN caller.name AS caller, length(path) AS calls, [via IN nodes(path) | via.name] AS services
ORDER BY calls, caller;
