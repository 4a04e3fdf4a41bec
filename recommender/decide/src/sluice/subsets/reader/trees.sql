-- The number of traces of each call tree, in the windows that reach beyond `from_s`; the most frequent 64 of each root operation.
SELECT toString(root_operation) AS operation, tree, sum(traces) AS seen
FROM call_trees FINAL
WHERE window > fromUnixTimestamp({from_s:Int64}) AND window <= fromUnixTimestamp({to_s:Int64})
GROUP BY root_service, root_operation, tree
ORDER BY root_service, root_operation, seen DESC, tree
LIMIT 64 BY root_service, root_operation
