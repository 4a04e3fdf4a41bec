-- The requests that instances of {services} counted between two of their points since {from_s} (Unix time), and their SERVER spans of
-- the same time: the first point, and the last one before the windows of spans that may still grow. A window that these points part
-- counts in part. A restarted counter is another row; of a delta, the first point covers an earlier time.
WITH
    shown AS
    (
        SELECT service, instance, toFloat64(toUnixTimestamp(window)) AS from_s, from_s + any(window_s) AS to_s,
            sum(container_latency.requests) AS spans,
            sum(errors) AS failed_spans
        FROM container_latency FINAL
        WHERE service IN {services:Array(String)} AND window >= fromUnixTimestamp({from_s:Int64} - 60) -- that is the longest window
        GROUP BY service, instance, window
    ),
    settled AS
    (
        SELECT service, 1e9 * (max(from_s) - {grows_s:UInt16}) AS until_ns
        FROM shown
        GROUP BY service
    ),
    counted AS
    (
        SELECT service, instance, metric_rank, start_ns, figure, series,
            min(first_ns) AS begin_ns,
            max(last_ns) AS end_ns,
            if(any(kind) = 'delta', sum(value_sum) - argMin(value_sum, window), max(value_max) - min(value_min)) AS grown
        FROM pool_metrics AS m FINAL
        INNER JOIN settled AS g USING (service)
        WHERE service IN {services:Array(String)} AND side = 'server' AND figure IN ('requests', 'failed_requests')
            AND window >= fromUnixTimestamp({from_s:Int64}) AND series != '(more)' AND last_ns <= until_ns
        GROUP BY service, instance, metric_rank, start_ns, figure, series
        HAVING end_ns > begin_ns
    ),
    of_instance AS
    (
        SELECT service, instance, start_ns,
            min(begin_ns) / 1e9 AS begin_s,
            max(end_ns) / 1e9 AS end_s,
            sumIf(grown, figure = 'requests') AS requests,
            sumIf(grown, figure = 'failed_requests') AS failed
        FROM counted
        GROUP BY service, instance, metric_rank, start_ns
        ORDER BY metric_rank
        LIMIT 1 BY service, instance, start_ns
    )
SELECT
    toString(service) AS name,
    sum(requests),
    sum(failed),
    sum(spans),
    sum(failed_spans)
FROM
(
    SELECT service, instance, start_ns, any(requests) AS requests, any(failed) AS failed,
        sum(window_spans * part) AS spans,
        sum(window_failed * part) AS failed_spans
    FROM
    (
        SELECT service, instance, start_ns, requests, failed, s.spans AS window_spans, s.failed_spans AS window_failed,
            (least(end_s, to_s) - greatest(begin_s, from_s)) / (to_s - from_s) AS part
        FROM of_instance AS c
        INNER JOIN shown AS s USING (service, instance)
        WHERE part > 0
    )
    GROUP BY service, instance, start_ns
)
GROUP BY service
ORDER BY service
