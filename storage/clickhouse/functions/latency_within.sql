-- Completions of a latency histogram within a threshold: latency_within(latency, threshold_ms).
-- It counts the buckets that lie wholly within the threshold, so the result is never too high:
-- 2^((i+1)/64) <= threshold in ns, that is i < floor(log2(threshold) * 64). 1.048576 ms = 2^20 ns counts i <= 1279.
CREATE OR REPLACE FUNCTION latency_within AS (latency, threshold_ms) ->
    arraySum(mapValues(mapFilter((i, n) -> i < floor(log2(round(threshold_ms * 1e6)) * 64), latency)))
