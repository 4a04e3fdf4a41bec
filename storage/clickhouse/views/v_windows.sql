-- Windows without superseded versions, with concurrency: the time-weighted mean of requests in flight.
-- The view hides empty rows: client spans count under the peer of their attributes (or 'unknown') until their trace is closed, and
-- then move to the service that it shows.
CREATE OR REPLACE VIEW v_windows AS
SELECT
    * EXCEPT (latency, version, written),
    busy_ns / (bucket_ms * 1e6) AS concurrency,
    latency,
    version,
    written
FROM windows FINAL
WHERE busy_ns > 0 OR completions > 0
