-- The edges of the call graph, each in its newest window with a call, and how long ago that window ended.
CREATE OR REPLACE VIEW v_call_graph AS
SELECT
    * EXCEPT (latency, version, written),
    calls / window_s AS rate_per_s,
    errors / calls AS error_ratio,
    latency_quantile_ms(latency, 0.5) AS p50_ms,
    latency_quantile_ms(latency, 0.95) AS p95_ms,
    latency_quantile_ms(latency, 0.99) AS p99_ms,
    toUnixTimestamp(now()) - toUnixTimestamp(window) - window_s AS age_s
FROM call_edges FINAL
WHERE (caller, callee, window) IN (SELECT caller, callee, max(window) FROM call_edges GROUP BY caller, callee)
ORDER BY window_s
LIMIT 1 BY caller, callee
