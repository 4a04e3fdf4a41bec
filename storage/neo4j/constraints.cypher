// The call graph's keys. Graph model:
//   (:Service {name})-[:CALLS {window, window_s, calls, errors, rate_per_s, error_ratio,
//                              p50_ms, p95_ms, p99_ms}]->(:Service {name})
// `window` is the epoch second at which the newest 10 s window with a call began; the other
// properties describe that window. An older window never overwrites a newer one.
CREATE CONSTRAINT service_name IF NOT EXISTS FOR (s:Service) REQUIRE s.name IS UNIQUE;
