"""Panels of adoption: which callers of a pair follow their subsets, and how far their calls are from the plan."""

from grafana_foundation_sdk.builders import table as table_panel

from generate.clickhouse import table
from generate.parts import FULL, rows, with_units
from generate.variables import among

_SHARES = "arrayMap(weight -> weight / greatest(arraySum(weights), 1), weights)"
_FROM = "greatest($__fromTime, $__toTime - INTERVAL 10 MINUTE)"


def pairs() -> table_panel.Panel:
    sql = f"""
        SELECT upstream, downstream, following, not_following, unknown, fixed_share
        FROM sluice.subset_pairs
        WHERE {among("upstream", "upstreams")} AND at > $__toTime - INTERVAL 1 DAY AND at <= $__toTime_ms
            AND following IS NOT NULL
        ORDER BY at DESC
        LIMIT 1 BY application, upstream, downstream
    """
    text = (
        "Upstream containers by whether their calls are those of their subsets, as the decider judged them last. "
        "Unknown: too few calls, or a plan that hardly differs from even routing; the solver counts them as following. "
        "Fixed: the part of the calls by callers that do not follow. `sluice subsets explain` names these callers."
    )
    panel = rows("Callers that follow their subsets", text, table(sql), "No subsets, or no decider judged callers yet.")
    return with_units(panel.span(FULL), fixed_share="percentunit")


def callers() -> table_panel.Panel:
    sql = f"""
        SELECT upstream, instance, downstream, any(all_calls) AS calls, sum(abs(observed - planned)) / 2 AS beside_plan
        FROM
        (
            SELECT
                upstream, instance, downstream, planned,
                sum(made) OVER (PARTITION BY upstream, instance, downstream) AS all_calls,
                sum(planned) OVER (PARTITION BY upstream, instance, downstream) AS has_plan,
                made / greatest(all_calls, 1) AS observed
            FROM
            (
                SELECT upstream, instance, downstream, share.1 AS container, share.2 AS planned
                FROM
                (
                    SELECT
                        toString(upstream) AS upstream, toString(instance) AS instance,
                        toString(downstream) AS downstream, arrayJoin(arrayZip(endpoints, {_SHARES})) AS share
                    FROM sluice.v_subset_now
                    WHERE {among("upstream", "upstreams")}
                )
            ) AS p
            FULL JOIN
            (
                SELECT
                    toString(caller) AS upstream, toString(caller_instance) AS instance, toString(callee) AS downstream,
                    toString(callee_instance) AS container, sum(calls) AS made
                FROM sluice.container_calls FINAL
                WHERE {among("caller", "upstreams")} AND window >= {_FROM} AND window <= $__toTime
                GROUP BY upstream, instance, downstream, container
            ) AS c USING (upstream, instance, downstream, container)
        )
        WHERE all_calls > 0 AND has_plan > 0
        GROUP BY upstream, instance, downstream
        ORDER BY beside_plan DESC, calls DESC, upstream, instance, downstream
        LIMIT 200
    """
    text = (
        "Beside plan: the part of an upstream container's calls in the newest ten minutes of the time range that would "
        "have to go to other containers to be those of its newest subset: 0 where it follows. A subset that changed "
        "meanwhile, and few calls, raise it."
    )
    panel = rows("Calls beside the plan", text, table(sql), "No container with a subset made a call in this time.")
    return with_units(panel.span(FULL), beside_plan="percentunit")
