-- A week of 20 services of 3 containers, 60 pools and 40 edges, up to now. Tables of which no panel reads more have less: windows of
-- 100 ms 6 hours of one container a service, histograms of paths and containers a day.
CREATE FUNCTION a_latency AS n -> mapFromArrays(arrayMap(i -> toInt16(1500 + i), range(10)), arrayMap(i -> toUInt32(1 + (n + i) % 9), range(10)));
CREATE FUNCTION time_of AS (n, step) -> toStartOfMinute(now()) - n * step;
CREATE FUNCTION ns_of AS t -> toUnixTimestamp(t) * 1000000000;

CREATE TABLE pools ENGINE = Memory AS
SELECT p.*, concat(p.service, '-', toString(q.k)) AS instance, q.k AS k
FROM
(
    SELECT 'server' AS side, concat('s', toString(number)) AS service, '' AS peer FROM numbers(20)
    UNION ALL
    SELECT 'client', concat('s', toString(number % 20)), concat('s', toString((number + 1 + intDiv(number, 20)) % 20)) FROM numbers(40)
) AS p
CROSS JOIN (SELECT number AS k FROM numbers(3)) AS q;

INSERT INTO windows (side, service, peer, instance, bucket, bucket_ms, busy_ns, completions, latency, version)
SELECT side, service, peer, instance, toDateTime64(time_of(0, 0), 3) - toIntervalMillisecond(100 * n.number), 100, 2e8, 5, a_latency(n.number), 5
FROM numbers(216000) AS n CROSS JOIN pools AS p WHERE k = 0;

INSERT INTO windows_1s (side, service, peer, instance, start, bucket_ms, busy_ns, busy_buckets, max_busy_ns, completions, latency, version, seen)
SELECT side, service, peer, instance, time_of(n.number, 1), 100, 2e9, 10, 4e8, 50, a_latency(n.number), 50, time_of(n.number, 1) + 3
FROM numbers(10800) AS n CROSS JOIN pools AS p;

INSERT INTO windows_10s (side, service, peer, instance, start, bucket_ms, busy_ns, busy_buckets, max_busy_ns, completions, latency, version, seen)
SELECT side, service, peer, instance, time_of(n.number, 10), 100, 2e10, 100, 4e8, 500, a_latency(n.number), 500, time_of(n.number, 10) + 13
FROM numbers(8640) AS n CROSS JOIN pools AS p;

INSERT INTO windows_1m (side, service, peer, instance, start, bucket_ms, busy_ns, busy_buckets, max_busy_ns, completions, latency, version, seen)
SELECT side, service, peer, instance, time_of(n.number, 60), 100, 12e10, 600, 4e8, 3000, a_latency(n.number), 3000, time_of(n.number, 60) + 63
FROM numbers(10080) AS n CROSS JOIN pools AS p;

INSERT INTO recommendations (service, side, peer, at, state, basis, action, current, target, confidence, threshold_ms, reasons, newest_bucket, revision, asked_per_s, in_time, best_per_s, least, most)
SELECT service, side, peer, time_of(n.number, 60) AS t, 'PROVIDED', 'CURVE', 'APPLY', 64, 8, 0.8, 250, ['KNEE'], t - 1, intDiv(toUnixTimestamp(t), 600), 30, 0.5, 40, 1, 128
FROM numbers(10080) AS n CROSS JOIN (SELECT DISTINCT service, side, peer FROM pools) AS p;

INSERT INTO pool_beliefs (service, side, peer, at, sizes, expected_per_s, lower_per_s, upper_per_s)
SELECT service, side, peer, time_of(n.number, 60), range(1, 54) AS curve, curve, curve, curve
FROM numbers(10080) AS n CROSS JOIN (SELECT DISTINCT service, side, peer FROM pools) AS p;

INSERT INTO actuations (service, side, peer, at, target_name, actuator, instance, outcome, previous, read_back, revision)
SELECT service, side, peer, time_of(n.number, 60) AS t, service, 'a', instance, if(n.number % 2000 = 7, 'APPLIED', 'OBSERVED'), 64, 8, intDiv(toUnixTimestamp(t), 600)
FROM numbers(10080) AS n CROSS JOIN pools AS p;

INSERT INTO call_edges (caller, callee, window, window_s, calls, errors, latency, version)
SELECT service, peer, time_of(n.number, 10), 10, 45, 1, a_latency(n.number), 45
FROM numbers(60480) AS n CROSS JOIN (SELECT DISTINCT service, peer FROM pools WHERE side = 'client') AS p;

INSERT INTO container_calls (caller, caller_instance, callee, callee_instance, window, window_s, calls, version)
SELECT p.service, p.instance, p.peer, concat(p.peer, '-', toString(k.number)), time_of(n.number, 10), 10, 15, 15
FROM numbers(8640) AS n CROSS JOIN numbers(3) AS k CROSS JOIN pools AS p WHERE p.side = 'client';

INSERT INTO ingest_counts (job, outcome, service, received, spans, emit_lag_ms, version)
SELECT concat('j', toString(k.number % 4)), if(k.number < 80, 'accepted', 'repeated_message'), toString(intDiv(k.number, 4)), time_of(n.number, 10), 500, 100000, 1
FROM numbers(60480) AS n CROSS JOIN numbers(88) AS k;

INSERT INTO critical_services (root_service, root_operation, service, at, rank, p95_ms, share_of_p95, blame_ms)
SELECT 's0', toString(intDiv(k.number, 4)), toString(k.number % 4), time_of(n.number, 30), 1 + k.number % 4, 80, 0.4, 20
FROM numbers(20160) AS n CROSS JOIN numbers(40) AS k;

INSERT INTO critical_paths (root_service, root_operation, complete, signature, window, window_s, traces, sum_ns, latency, version)
SELECT 's0', toString(intDiv(k.number, 3)), true, concat('s0 > s', toString(k.number % 3)), time_of(n.number, 10), 10, 45, 450000000, a_latency(n.number), 45
FROM numbers(8640) AS n CROSS JOIN numbers(30) AS k;

INSERT INTO path_services (root_service, root_operation, complete, service, window, window_s, traces, self_sum, e2e_sum, self_latency, upstream_latency, version)
SELECT 's0', toString(intDiv(k.number, 4)), true, toString(k.number % 4), time_of(n.number, 10), 10, 45, 450000000, 900000000, a_latency(n.number), a_latency(n.number), 45
FROM numbers(8640) AS n CROSS JOIN numbers(40) AS k;

INSERT INTO container_latency (service, instance, host, window, window_s, requests, ln_sum, ln_sum2, latency, version)
SELECT service, instance, concat('h', toString(k)), time_of(n.number, 10), 10, 100, 1680000000000, 28224000000000, a_latency(n.number), 100
FROM numbers(8640) AS n CROSS JOIN (SELECT DISTINCT service, instance, k FROM pools) AS p;

INSERT INTO container_own_time (service, instance, host, window, window_s, requests, latency, version)
SELECT service, instance, concat('h', toString(k)), time_of(n.number, 10), 10, 100, a_latency(n.number), 100
FROM numbers(8640) AS n CROSS JOIN (SELECT DISTINCT service, instance, k FROM pools) AS p;

INSERT INTO subset_pairs (application, upstream, downstream, at, percentile, predicted_ms)
SELECT 'default', service, peer, time_of(n.number, 60), 0.95, 10
FROM numbers(10080) AS n CROSS JOIN (SELECT DISTINCT service, peer FROM pools WHERE side = 'client') AS p;

INSERT INTO subsets (upstream, instance, downstream, at, state, strategy, endpoints, weights, revision, recorded)
SELECT p.service, p.instance, p.peer, time_of(n.number, 600) AS t, 'PROVIDED', 'microns',
    arrayMap(i -> concat(p.peer, '-', toString(i)), range(3)), [1 + n.number % 3, 1, 1], toUnixTimestamp(t), t
FROM numbers(1008) AS n CROSS JOIN pools AS p WHERE p.side = 'client';

INSERT INTO resource_metrics (role, host, instance, metric_rank, series, kind, window, window_s, points, value_sum, first_ns, last_ns, version)
SELECT role, host, instance, 1, role, 'level', time_of(n.number, 10) AS t, 10, 1, 250000000, ns_of(t), ns_of(t), 1
FROM numbers(8640) AS n
CROSS JOIN
(
    SELECT DISTINCT 'container_cpu' AS role, 'h0' AS host, instance FROM pools
    UNION ALL
    SELECT DISTINCT 'host_cpu_idle', concat('h', toString(k)), '' FROM pools
) AS p;

INSERT INTO resource_metrics (role, host, instance, metric_rank, series, kind, window, window_s, points, value_min, value_max, first_ns, last_ns, version)
SELECT concat('collector_spans_', p.name), 'h0', toString(p.k), 1, p.name, 'counter', time_of(n.number, 10) AS t, 10, 1, toUnixTimestamp(t), toUnixTimestamp(t), ns_of(t), ns_of(t), 1
FROM numbers(60480) AS n
CROSS JOIN (SELECT number AS k, arrayJoin(['accepted', 'sent', 'failed', 'refused']) AS name FROM numbers(3)) AS p;

INSERT INTO pool_metrics (service, instance, side, pool, figure, metric_rank, series, kind, window, window_s, points, value_sum, first_ns, last_ns, version)
SELECT service, instance, 'server', 'http', figure, 1, figure, 'level', time_of(n.number, 10) AS t, 10, 1, 64, ns_of(t), ns_of(t), 1
FROM numbers(8640) AS n
CROSS JOIN (SELECT DISTINCT service, instance, arrayJoin(['size', 'used', 'idle', 'pending']) AS figure FROM pools) AS p;

INSERT INTO tuning_trials (session, number, purpose, parameters, verdict, value, lower, upper, place, asked_at, told_at, due_at, recorded)
SELECT concat('t', toString(k.number)), n.number, 'SEARCH', map('a', toString(n.number), 'b', '1'), 'GOOD', 100 - n.number % 40 AS v, v - 3, v + 3,
    n.number, time_of(100 - n.number, 90) - k.number * 3000 AS t, t + 60, t + 600, t + 60
FROM numbers(100) AS n CROSS JOIN numbers(200) AS k
