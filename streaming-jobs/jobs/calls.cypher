UNWIND $rows AS row
WITH row ORDER BY row.window
MERGE (caller:Service {name: row.caller})
MERGE (callee:Service {name: row.callee})
FOREACH (seen IN [s IN [caller, callee] WHERE coalesce(s.window, -1) < row.window] | SET seen.window = row.window)
MERGE (caller)-[calls:CALLS]->(callee)
WITH calls, row
WHERE calls.window IS NULL
   OR row.window > calls.window
   OR (row.window = calls.window AND row.calls >= calls.calls)
// All rows are compared with what was stored before any is set: of several, the newest must come last.
WITH calls, row ORDER BY row.window, row.calls
SET calls.window = row.window,
    calls.window_s = row.window_s,
    calls.calls = row.calls,
    calls.errors = row.errors,
    calls.rate_per_s = row.rate_per_s,
    calls.error_ratio = row.error_ratio,
    calls.p50_ms = row.p50_ms,
    calls.p95_ms = row.p95_ms,
    calls.p99_ms = row.p99_ms
