-- The newest subset of each upstream container and downstream service, its age, and what a client did with it last.
CREATE OR REPLACE VIEW v_subset_now AS
SELECT
    s.upstream AS upstream,
    s.instance AS instance,
    s.downstream AS downstream,
    s.state AS state,
    s.strategy AS strategy,
    s.endpoints AS endpoints,
    s.weights AS weights,
    s.reasons AS reasons,
    s.revision AS revision,
    s.at AS at,
    dateDiff('second', s.at, now64(3)) AS age_s,
    d.revision AS delivered_revision,
    d.outcome AS delivered,
    d.client AS client,
    d.detail AS detail
FROM
(
    SELECT * FROM subsets FINAL
    ORDER BY upstream, downstream, instance, revision DESC, recorded DESC
    LIMIT 1 BY upstream, downstream, instance
) AS s
LEFT JOIN
(
    SELECT upstream, instance, downstream, toNullable(revision) AS revision, toNullable(toString(outcome)) AS outcome, client, detail
    FROM subset_deliveries FINAL
    ORDER BY upstream, downstream, instance, received DESC
    LIMIT 1 BY upstream, downstream, instance
) AS d ON s.upstream = d.upstream AND s.instance = d.instance AND s.downstream = d.downstream
WHERE s.state != 'DELETED'
