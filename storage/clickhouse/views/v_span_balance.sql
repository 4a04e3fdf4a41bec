-- Spans of the collectors and on the topic in the newest seconds: SELECT * FROM v_span_balance(seconds = 3600)
CREATE OR REPLACE VIEW v_span_balance AS
SELECT *
FROM v_span_balance_between(
    from_ms = toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:UInt32},
    until_ms = toUnixTimestamp64Milli(now64(3)) + 1000)
