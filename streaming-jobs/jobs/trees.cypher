UNWIND $rows AS row
WITH row ORDER BY row.window
MERGE (service:Service {name: row.service})
MERGE (operation:Operation {service: row.service, name: row.operation})
MERGE (operation)-[:OF]->(service)
FOREACH (older IN [n IN [service, operation] WHERE coalesce(n.window, -1) < row.window] | SET older.window = row.window)
WITH operation, row
WHERE operation.tree_window IS NULL
   OR row.window > operation.tree_window
   OR (row.window = operation.tree_window AND row.total >= operation.tree_total)
// As in calls.cypher: of several rows of one operation, the newest must come last.
WITH operation, row ORDER BY row.window, row.total
SET operation.tree = row.tree,
    operation.tree_share = row.share,
    operation.tree_traces = row.traces,
    operation.tree_total = row.total,
    operation.tree_window = row.window
