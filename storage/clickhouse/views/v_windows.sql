-- The fine windows without superseded versions, and with concurrency: the time-weighted mean number in flight.
-- Rows in which nothing is left are hidden: client spans count under the peer of their attributes (or 'unknown') until
-- their trace is closed, and move to the service that it shows.
CREATE OR REPLACE VIEW v_windows AS
SELECT
    * EXCEPT (latency, version, written),
    busy_ns / (bucket_ms * 1e6) AS concurrency,
    latency,
    version,
    written
FROM windows FINAL
WHERE busy_ns > 0 OR completions > 0
