-- When did a pool hold far more than it should? The 100 ms with the highest concurrency, against the target of the time (last 15 minutes)
SELECT
    w.bucket AS bucket,
    w.service AS service,
    w.side AS side,
    w.peer AS peer,
    w.instance AS instance,
    round(w.concurrency, 1) AS in_flight,
    r.target AS target,
    w.completions AS completions
FROM (SELECT * FROM v_windows WHERE bucket >= now() - INTERVAL 15 MINUTE) AS w
ASOF INNER JOIN (SELECT service, side, peer, at, target FROM recommendations WHERE target IS NOT NULL) AS r
    ON w.service = r.service AND w.side = r.side AND w.peer = r.peer AND w.bucket >= r.at
ORDER BY w.concurrency / r.target DESC
LIMIT 20;
