// What does each root operation wait for, and how many of its requests look like that?
MATCH (root:Operation)
WHERE root.tree IS NOT NULL
RETURN root.service AS service, root.name AS operation, root.tree_share AS share, root.tree_traces AS traces,
       root.tree AS tree
ORDER BY root.tree_total DESC, service, operation
LIMIT 20;
