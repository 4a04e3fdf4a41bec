-- Which calls fail more than before? Errors of each edge in the last 5 minutes against the hour before
SELECT
    caller,
    callee,
    sumIf(calls, recent) AS calls_now,
    round(100 * sumIf(errors, recent) / calls_now, 2) AS error_percent_now,
    round(100 * sumIf(errors, NOT recent) / sumIf(calls, NOT recent), 2) AS error_percent_before
FROM (SELECT *, window >= now() - INTERVAL 5 MINUTE AS recent FROM call_edges FINAL WHERE window >= now() - INTERVAL 65 MINUTE)
GROUP BY caller, callee
HAVING calls_now > 0
ORDER BY error_percent_now - ifNotFinite(error_percent_before, 0) DESC, calls_now DESC;
