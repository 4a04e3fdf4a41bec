-- The requests that instances of {services} counted between their first and last point since {from_s} (Unix time), and their SERVER
-- spans that ended in the same time. A restarted counter is another row; of a delta, the first point covers an earlier time.
WITH
    counted AS
    (
        SELECT service, instance, metric_rank, start_ns, figure, series,
            min(first_ns) AS begin_ns,
            max(last_ns) AS end_ns,
            if(any(kind) = 'delta', sum(value_sum) - argMin(value_sum, window), max(value_max) - min(value_min)) AS grown
        FROM pool_metrics FINAL
        WHERE service IN {services:Array(String)} AND side = 'server' AND figure IN ('requests', 'failed_requests')
            AND window >= fromUnixTimestamp({from_s:Int64}) AND series != '(more)'
        GROUP BY service, instance, metric_rank, start_ns, figure, series
        HAVING end_ns > begin_ns
    ),
    of_instance AS
    (
        SELECT service, instance, start_ns,
            min(begin_ns) AS begin_ns,
            max(end_ns) AS end_ns,
            sumIf(grown, figure = 'requests') AS requests,
            sumIf(grown, figure = 'failed_requests') AS failed
        FROM counted
        GROUP BY service, instance, metric_rank, start_ns
        ORDER BY metric_rank
        LIMIT 1 BY service, instance, start_ns
    ),
    shown AS
    (
        SELECT service, instance, window, sum(container_latency.requests) AS spans, sum(errors) AS failed_spans
        FROM container_latency FINAL
        WHERE service IN {services:Array(String)} AND window >= fromUnixTimestamp({from_s:Int64})
        GROUP BY service, instance, window
    )
SELECT
    toString(service) AS name,
    sum(requests),
    sum(failed),
    sum(spans),
    sum(failed_spans)
FROM
(
    SELECT service, instance, start_ns, any(requests) AS requests, any(failed) AS failed, sum(s.spans) AS spans,
        sum(s.failed_spans) AS failed_spans
    FROM of_instance AS c
    INNER JOIN shown AS s USING (service, instance)
    WHERE s.window >= fromUnixTimestamp(intDiv(begin_ns, 1000000000)) AND s.window < fromUnixTimestamp(intDiv(end_ns, 1000000000))
    GROUP BY service, instance, start_ns
)
GROUP BY service
ORDER BY service
