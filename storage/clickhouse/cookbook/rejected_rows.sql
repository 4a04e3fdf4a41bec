-- Which rows did a store refuse, and which columns are left out, since when and why? (last day)
SELECT
    r.store AS store,
    r.table AS table,
    r.reason AS reason,
    sum(r.rows) AS n,
    min(r.at) AS since,
    max(r.at) AS newest,
    argMax(r.key, r.at) AS example,
    argMax(r.detail, r.at) AS answer
FROM rejected_rows AS r FINAL
WHERE r.at >= now() - INTERVAL 1 DAY
GROUP BY store, table, reason
ORDER BY n DESC;
