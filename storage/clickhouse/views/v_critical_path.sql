-- Critical paths of each root operation in the newest seconds:
-- SELECT * FROM v_critical_path(seconds = 600)
CREATE OR REPLACE VIEW v_critical_path AS
SELECT *
FROM v_critical_path_between(
    from_ms = toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:UInt32},
    until_ms = toUnixTimestamp64Milli(now64(3)) + 1000)
