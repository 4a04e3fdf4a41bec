-- The services on the critical paths of each root operation whose root ended in [from_ms, until_ms), epoch milliseconds (by whole
-- windows): how often each is on the path, its own time, the correlation of that with the end to end time, and the time of the
-- services above it, which a deadline must leave to them. mean_wait_ms is its callers' wait for its threads. mean_self_ms counts each
-- wait for the caller, blame for the services that occupied the threads.
-- pearson is NULL for fewer than two traces, and if one of the times never differs.
CREATE OR REPLACE VIEW v_critical_services_between AS
WITH
    per_service AS
    (
        SELECT
            root_service,
            root_operation,
            complete,
            service,
            sum(traces) AS n,
            toUInt128(sum(toUInt128(self_sum))) AS self,
            sum(self_sum2) AS self2,
            toUInt128(sum(toUInt128(e2e_sum))) AS e2e,
            sum(e2e_sum2) AS e2e2,
            sum(self_x_e2e) AS product,
            sum(toUInt128(upstream_sum)) AS upstream,
            sum(toUInt128(wait_sum)) AS wait,
            toUInt128(sum(toUInt128(blame_sum))) AS blame,
            sum(blame_sum2) AS blame2,
            sum(blame_x_e2e) AS blame_product,
            sumMap(self_latency) AS self_all,
            sumMap(upstream_latency) AS upstream_all,
            sumMap(blame_latency) AS blame_all
        FROM path_services FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY root_service, root_operation, complete, service
    ),
    per_operation AS
    (
        SELECT root_service, root_operation, complete, sum(traces) AS n
        FROM critical_paths FINAL
        WHERE window >= fromUnixTimestamp64Milli({from_ms:Int64}) AND window < fromUnixTimestamp64Milli({until_ms:Int64})
        GROUP BY root_service, root_operation, complete
    )
SELECT
    s.root_service AS root_service,
    s.root_operation AS root_operation,
    s.complete AS complete,
    s.service AS service,
    s.n AS traces,
    s.n / o.n AS share_of_traces,
    s.self / s.n / 1e6 AS mean_self_ms,
    if(s.e2e = 0, NULL, s.self / s.e2e) AS share_of_end_to_end,
    pearson(s.n, s.self, s.self2, s.e2e, s.e2e2, s.product) AS pearson,
    latency_quantile_ms(s.self_all, 0.5) AS p50_self_ms,
    latency_quantile_ms(s.self_all, 0.99) AS p99_self_ms,
    p99_self_ms / p50_self_ms AS congestion_ratio,
    s.upstream / s.n / 1e6 AS mean_upstream_ms,
    latency_quantile_ms(s.upstream_all, 0.95) AS p95_upstream_ms,
    s.wait / s.n / 1e6 AS mean_wait_ms,
    s.blame / s.n / 1e6 AS mean_blame_ms,
    if(s.e2e = 0, NULL, s.blame / s.e2e) AS blame_of_end_to_end,
    pearson(s.n, s.blame, s.blame2, s.e2e, s.e2e2, s.blame_product) AS blame_pearson,
    latency_quantile_ms(s.blame_all, 0.99) / latency_quantile_ms(s.blame_all, 0.5) AS blame_congestion_ratio
FROM per_service AS s
INNER JOIN per_operation AS o USING (root_service, root_operation, complete)
ORDER BY root_service, root_operation, complete DESC, s.self DESC
