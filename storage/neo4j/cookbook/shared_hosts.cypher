// Which hosts do several services share, so that one may slow another down?
MATCH (instance:Instance)-[on:ON]->(host:Host)
WHERE on.window = instance.window // where it is now: an instance that moved was elsewhere before
WITH host, instance.service AS service, count(*) AS instances ORDER BY service
WITH host, collect(service) AS services, sum(instances) AS instances
WHERE size(services) > 1
RETURN host.name AS host, services, instances
ORDER BY instances DESC, host;
