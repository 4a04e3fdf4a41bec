-- What happened to one pool, the newest {limit} entries, oldest first.
SELECT formatDateTime(at, '%Y-%m-%d %H:%i:%S') AS time, what, detail
FROM
(
    SELECT
        since AS at,
        concat('answer ', toString(revision)) AS what,
        concat(
            state, if(action = '', '', concat(', ', action, ' by ', basis)), ', current ', ifNull(toString(current), '-'), ', target ', ifNull(toString(target), '-'),
            if(unguarded_target IS NULL OR unguarded_target = target, '', concat(' (best ', toString(unguarded_target), ')')),
            ': ', arrayStringConcat(reasons, ', ')) AS detail
    FROM v_recommendation_history
    WHERE service = {service:String} AND side = {side:String} AND peer = {peer:String}
    UNION ALL
    SELECT
        at,
        lower(toString(outcome)) AS what,
        concat(
            target_name, ' by ', actuator, ': ', ifNull(toString(previous), '-'), ' -> ', ifNull(toString(read_back), '-'),
            if(detail = '', '', concat(', ', detail))) AS detail
    FROM v_actuation_history
    WHERE service = {service:String} AND side = {side:String} AND peer = {peer:String}
    UNION ALL
    SELECT at, if(paused, 'paused', 'resumed') AS what, concat('by ', by, ifNull(concat(' at ', toString(size)), ''), if(why = '', '', concat(': ', why))) AS detail
    FROM pool_pauses FINAL
    WHERE service = {service:String} AND side = {side:String} AND peer = {peer:String}
    UNION ALL
    SELECT
        at,
        'scaled' AS what,
        concat(
            service, ' by ', source, ':',
            if(cpu_limit_cores IS NULL, '', concat(' ', toString(cpu_limit_cores), ' cores')),
            if(replicas IS NULL, '', concat(' ', toString(replicas), ' replicas')),
            if(version = '', '', concat(' version ', version))) AS detail
    FROM scaling_events FINAL
    WHERE service IN ({service:String}, {peer:String}) AND service != ''
    ORDER BY at DESC
    LIMIT {limit:UInt32}
)
ORDER BY at
