-- The most frequent call tree of each root operation in its newest 5 minutes, and its share of the traces (0..1). Of equally
-- frequent ones the first in order of text. The row that sums up indistinct trees appears only if it is the only one.
CREATE OR REPLACE VIEW v_call_tree AS
WITH newest AS
(
    SELECT root_service, root_operation, max(window) AS newest_window
    FROM call_trees
    GROUP BY root_service, root_operation
)
SELECT
    root_service,
    root_operation,
    newest_window,
    tree,
    sum(c.traces) AS tree_traces,
    sum(tree_traces) OVER (PARTITION BY root_service, root_operation) AS total_traces,
    tree_traces / total_traces AS share
FROM call_trees AS c FINAL
INNER JOIN newest USING (root_service, root_operation)
WHERE c.window > newest_window - INTERVAL 5 MINUTE
GROUP BY root_service, root_operation, newest_window, tree
ORDER BY endsWith(tree, ',"other":true}'), tree_traces DESC, tree
LIMIT 1 BY root_service, root_operation
