-- Spans that no window counts, by cause, for windows that start in [from_ms, until_ms), epoch milliseconds. `share` is of all spans
-- of the service on that side: these, and those that the windows count (in their rollup, some 35 s later).
CREATE OR REPLACE VIEW v_spans_left_out_between AS
WITH
    counted AS
    (
        SELECT service AS of_service, toString(side) AS on_side, sum(completions) AS completed
        FROM windows_10s FINAL
        WHERE start >= fromUnixTimestamp64Milli({from_ms:Int64}) AND start < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY of_service, on_side
    ),
    dropped AS
    (
        SELECT service, side, peer, operation, action, rule, sum(l.spans) AS left_out, sum(l.duration_ns) AS lasted_ns
        FROM spans_left_out AS l FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
          AND action NOT IN ('not_a_pool', 'sidecar') -- which windows count
        GROUP BY service, side, peer, operation, action, rule
    )
SELECT
    d.service AS service,
    d.side AS side,
    d.peer AS peer,
    d.operation AS operation,
    d.action AS action,
    d.rule AS rule,
    d.left_out AS spans,
    d.lasted_ns / 1e6 / d.left_out AS mean_ms,
    d.left_out / (sum(d.left_out) OVER (PARTITION BY d.service, d.side) + c.completed) AS share
FROM dropped AS d
LEFT JOIN counted AS c ON c.of_service = d.service AND c.on_side = d.side
ORDER BY share DESC, service, side, peer, operation, rule
