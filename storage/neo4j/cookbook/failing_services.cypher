// Which services answer with the most errors, over all of their callers? (newest window of each call)
MATCH (caller:Service)-[call:CALLS]->(callee:Service)
WITH callee.name AS service, sum(call.errors) AS errors, sum(call.calls) AS calls,
     [one IN collect({caller: caller.name, errors: call.errors}) WHERE one.errors > 0 | one.caller] AS see_them
RETURN service, toFloat(errors) / calls AS error_ratio, errors, calls, see_them
ORDER BY error_ratio DESC, service
LIMIT 20;
