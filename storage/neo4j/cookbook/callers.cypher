// Who calls a service, how often, and how slow is it? (name the service)
MATCH (caller:Service)-[call:CALLS]->(:Service {name: 'cart'})
RETURN caller.name AS caller, call.rate_per_s AS calls_per_s, call.error_ratio AS error_ratio, call.p99_ms AS p99_ms
ORDER BY calls_per_s DESC;
