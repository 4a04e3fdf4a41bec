-- A quantile of a latency histogram, by nearest rank: latency_quantile_ms(latency, 0.99). NULL for an empty one.
-- The value is the geometric middle of its bucket, 2^((i+0.5)/64) ns: at most 0.54 % off.
CREATE OR REPLACE FUNCTION latency_quantile_ms AS (latency, q) ->
    if(
        empty(latency),
        NULL,
        exp2(
            (arrayElement(
                mapKeys(mapSort(latency)),
                arrayFirstIndex(
                    c -> c >= q * arraySum(mapValues(latency)),
                    arrayCumSum(mapValues(mapSort(latency)))
                )
            ) + 0.5) / 64
        ) / 1e6
    )
