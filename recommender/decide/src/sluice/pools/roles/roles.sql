-- Spans of some {services} by side, peer, action and rule, in windows that begin from {from_s} to {to_s} (Unix time). Action '' has
-- the spans that count, whatever rules say.
SELECT toString(side), toString(service), toString(peer), toString(action), toString(rule), toUInt64(sum(spans))
FROM spans_left_out FINAL
PREWHERE service IN {services:Array(String)}
  AND window >= fromUnixTimestamp({from_s:Int64}) AND window < fromUnixTimestamp({to_s:Int64})
GROUP BY side, service, peer, action, rule
UNION ALL
SELECT toString(side), toString(service), toString(peer), '', '', toUInt64(sum(completions))
FROM windows_10s FINAL
PREWHERE service IN {services:Array(String)}
  AND start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64})
GROUP BY side, service, peer
