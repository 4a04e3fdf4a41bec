-- The goodput curve of one pool over the newest seconds, under any threshold, at any time:
-- SELECT * FROM v_goodput_curve(service = 'cart', side = 'server', peer = '', threshold_ms = 150, seconds = 60)
CREATE OR REPLACE VIEW v_goodput_curve AS
SELECT *
FROM v_goodput_curve_between(
    service = {service:String}, side = {side:String}, peer = {peer:String}, threshold_ms = {threshold_ms:Float64},
    from_ms = toUnixTimestamp64Milli(now64(3)) - 1000 * {seconds:UInt32},
    until_ms = toUnixTimestamp64Milli(now64(3)) + 1000)
