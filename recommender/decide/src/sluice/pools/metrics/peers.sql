-- The peers of the client spans of some {services}, from {from_s} to {to_s} (Unix time). A row that a correction emptied is no peer.
SELECT toString(service) AS service, groupUniqArray(toString(peer)) AS peers
FROM windows_10s FINAL
PREWHERE side = 'client' AND service IN {services:Array(String)}
  AND start >= fromUnixTimestamp({from_s:Int64}) AND start < fromUnixTimestamp({to_s:Int64})
WHERE busy_ns > 0 OR completions > 0
GROUP BY service
