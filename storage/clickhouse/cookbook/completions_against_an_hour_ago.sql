-- Where did completions drop against the same time an hour ago? (last whole 5 minutes, server spans)
WITH toStartOfInterval(now(), INTERVAL 10 SECOND) - INTERVAL 10 SECOND AS until
SELECT
    service,
    round(sumIf(completions, start >= until - INTERVAL 5 MINUTE) / 300, 2) AS now_per_s,
    round(sumIf(completions, start < until - INTERVAL 1 HOUR) / 300, 2) AS hour_ago_per_s,
    if(hour_ago_per_s = 0, NULL, round(100 * (now_per_s / hour_ago_per_s - 1), 1)) AS change_percent
FROM v_windows_10s
WHERE side = 'server' AND
    (start >= until - INTERVAL 5 MINUTE AND start < until
     OR start >= until - INTERVAL 65 MINUTE AND start < until - INTERVAL 1 HOUR)
GROUP BY service
ORDER BY change_percent;
