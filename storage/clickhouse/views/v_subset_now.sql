-- The newest subset of each upstream container and downstream service, its age, and the last response of a client to it.
CREATE OR REPLACE VIEW v_subset_now AS
SELECT
    s.* EXCEPT (addresses, recorded),
    dateDiff('second', s.at, now64(3)) AS age_s,
    d.delivered_revision,
    d.delivered,
    d.client,
    d.detail
FROM
(
    SELECT * FROM subsets FINAL
    ORDER BY upstream, downstream, instance, revision DESC, recorded DESC
    LIMIT 1 BY upstream, downstream, instance
) AS s
LEFT JOIN
(
    SELECT
        upstream, instance, downstream, toNullable(revision) AS delivered_revision,
        toNullable(toString(outcome)) AS delivered, client, detail
    FROM subset_deliveries FINAL
    ORDER BY upstream, downstream, instance, received DESC
    LIMIT 1 BY upstream, downstream, instance
) AS d USING (upstream, instance, downstream)
WHERE s.state != 'DELETED'
