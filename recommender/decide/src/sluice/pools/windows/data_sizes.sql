-- The data that spans moved from {from_s} to {to_s}: the number and sum of the spans that give a size. The table `keys`, sent with the
-- query, has the pools. The rows of a server or consumer pool are those of its service's calls: CLIENT spans give a database's rows.
-- Bytes are of the pool's own spans.
SELECT
    toUInt32(pool)                            AS pool,
    toUInt64(sum(row_spans))                  AS row_spans,
    toUInt64(sum(row_sum))                    AS row_sum,
    toUInt64(sumIf(byte_spans, side = asked)) AS byte_spans,
    toUInt64(sumIf(byte_sum, side = asked))   AS byte_sum
FROM
(
    SELECT toString(side) AS side, service, peer, row_spans, row_sum, byte_spans, byte_sum
    FROM data_sizes FINAL
    PREWHERE window >= fromUnixTimestamp({from_s:Int64}) AND window < fromUnixTimestamp({to_s:Int64})
      AND service IN (SELECT service FROM keys)
) AS said
INNER JOIN (SELECT pool, side AS asked, service, peer AS of FROM keys) AS k USING (service)
WHERE asked != 'client' OR (side = 'client' AND peer = of)
GROUP BY pool
