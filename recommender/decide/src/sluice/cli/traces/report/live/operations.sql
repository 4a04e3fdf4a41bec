-- The root operations of complete critical paths in [{from_ms}, {until_ms}) (Unix time), with their most frequent paths: services,
-- traces and mean. The operation with the most traces first.
SELECT
    root_service,
    root_operation,
    sum(n)                                                            AS traces,
    latency_quantile_ms(sumMap(histogram), 0.5)                       AS p50_ms,
    latency_quantile_ms(sumMap(histogram), 0.95)                      AS p95_ms,
    latency_quantile_ms(sumMap(histogram), 0.99)                      AS p99_ms,
    arraySort(w -> (-w.2, w.1), groupArray((path, n, ns / n / 1e6))) AS ways
FROM
(
    SELECT toString(c.root_service) AS root_service, toString(c.root_operation) AS root_operation, toString(signature) AS path,
        sum(c.traces) AS n, sum(c.sum_ns) AS ns, sumMap(c.latency) AS histogram
    FROM critical_paths AS c FINAL
    WHERE complete AND window >= fromUnixTimestamp(intDiv({from_ms:Int64}, 1000))
        AND window < fromUnixTimestamp(intDiv({until_ms:Int64}, 1000))
    GROUP BY root_service, root_operation, path
)
GROUP BY root_service, root_operation
ORDER BY traces DESC, root_service, root_operation
