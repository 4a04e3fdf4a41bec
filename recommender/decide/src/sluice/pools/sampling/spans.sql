-- What the spans of {services} say of samplers, and what their trace ids show: a row for the newest {newest_s} s of each service, and
-- then a row for the time before, back to {longest_s} s. Ages count from the newest window, by the broker's clock.
WITH (SELECT max(window) FROM service_sampling WHERE window >= fromUnixTimestamp({from_s:Int64})) AS newest
SELECT
    toString(service) AS name,
    window > newest - {newest_s:UInt16} AS is_newest,
    sum(spans),
    sum(stated),
    sum(adjusted),
    sum(tail),
    length(groupUniqArrayArray(mapKeys(last_bytes))),
    max(most_64),
    max(most_63),
    max(most_56),
    max(most_32),
    max(most_head),
    min(least_64),
    min(least_head)
FROM service_sampling FINAL
WHERE service IN {services:Array(String)} AND window > newest - {longest_s:UInt16} AND window >= fromUnixTimestamp({from_s:Int64})
GROUP BY service, is_newest
ORDER BY service, is_newest DESC
