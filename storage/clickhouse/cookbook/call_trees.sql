-- What does each root operation wait for, which calls are parallel, and how many of its requests look like that?
SELECT root_service, root_operation, round(share, 3) AS share, total_traces, tree
FROM v_call_tree
ORDER BY total_traces DESC
LIMIT 20;
