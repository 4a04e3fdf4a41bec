// How many instances has each service, on how many hosts, and when was the last of them seen?
MATCH (service:Service)<-[:OF]-(instance:Instance)
OPTIONAL MATCH (instance)-[:ON]->(host:Host)
RETURN service.name AS service, count(DISTINCT instance) AS instances, count(DISTINCT host) AS hosts,
       datetime({epochSeconds: max(instance.window)}) AS seen
ORDER BY instances DESC, service;
