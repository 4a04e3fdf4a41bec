// Who would feel it if an instance failed: what share of its service is it, which services depend on that service, and
// which root operations wait for it? (name the instance)
MATCH (:Instance {id: 'cart-0'})-[:OF]->(service:Service)
OPTIONAL MATCH (caller:Service) WHERE caller <> service AND EXISTS { (caller)-[:CALLS*]->(service) }
WITH service, collect(DISTINCT caller.name) AS services
OPTIONAL MATCH (operation:Operation)
WHERE operation.tree CONTAINS '"service":"' + replace(replace(service.name, '\\', '\\\\'), '"', '\\"') + '"'
WITH service, services, operation ORDER BY operation.service, operation.name
RETURN service.name AS service,
       1.0 / COUNT { (service)<-[:OF]-(:Instance) } AS share_of_instances,
       services AS dependent_services,
       collect(operation.service + ' ' + operation.name) AS root_operations;
