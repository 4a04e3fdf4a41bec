UNWIND $rows AS row
WITH row ORDER BY row.window
MERGE (service:Service {name: row.service})
FOREACH (older IN [s IN [service] WHERE coalesce(s.window, -1) < row.window] | SET older.window = row.window)
WITH row, service
CALL (row, service) {
  WITH row, service WHERE row.operation <> ''
  MERGE (operation:Operation {service: row.service, name: row.operation})
  MERGE (operation)-[:OF]->(service)
  WITH row, operation WHERE coalesce(operation.window, -1) < row.window
  SET operation.window = row.window
}
CALL (row, service) {
  WITH row, service WHERE row.instance <> ''
  MERGE (instance:Instance {id: row.instance, service: row.service})
  MERGE (instance)-[:OF]->(service)
  WITH row, instance WHERE coalesce(instance.window, -1) < row.window
  SET instance.window = row.window
}
CALL (row) {
  WITH row WHERE row.instance <> '' AND row.host <> ''
  MATCH (instance:Instance {id: row.instance, service: row.service})
  MERGE (host:Host {name: row.host})
  MERGE (instance)-[on:ON]->(host)
  FOREACH (older IN [h IN [host] WHERE coalesce(h.window, -1) < row.window] | SET older.window = row.window)
  WITH row, on WHERE coalesce(on.window, -1) < row.window
  SET on.window = row.window
}
