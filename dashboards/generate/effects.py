"""The panel of goodput before and after each change of a size."""

from grafana_foundation_sdk.builders import table as table_panel

from generate.clickhouse import table
from generate.parts import POOL_URL, linked, rows, set_to, steps, with_units
from generate.variables import among

_MINUTES, _CHANGES = 10, 20
# Start of the first minute that is not over, or that the rollup may lack a part of (levels.py).
_UNDER_WAY = "toStartOfMinute(now() - INTERVAL 40 SECOND)"
_GOOD = "latency_within(c.latency, d.threshold_ms)"


def effects() -> table_panel.Panel:
    sql = f"""
        WITH
            -- A scalar, so that the engine reads the table once.
            (
                SELECT groupArray((service, side, peer, at, previous, read_back, revision))
                FROM
                (
                    SELECT *
                    FROM sluice.actuations FINAL
                    WHERE $__timeFilter_ms(at) AND outcome = 'APPLIED' AND side = 'server' AND revision != 0
                        AND {among("service", "services")}
                    ORDER BY at DESC
                    LIMIT {_CHANGES}
                )
            ) AS changes,
            minutes AS
            (
                SELECT
                    c.1 AS service, c.2 AS side, c.3 AS peer, c.4 AS at, c.5 AS previous, c.6 AS read_back,
                    c.7 AS revision,
                    toStartOfMinute(at) + toIntervalMinute(arrayJoin(range(-{_MINUTES}, {_MINUTES} + 1))) AS minute
                FROM (SELECT arrayJoin(changes) AS c)
            ),
            decisions AS
            (
                SELECT service, side, peer, revision, any(threshold_ms) AS threshold_ms
                FROM sluice.recommendations
                WHERE (service, side, peer, revision) IN (SELECT service, side, peer, revision FROM minutes)
                GROUP BY service, side, peer, revision
            ),
            called AS
            (
                SELECT peer AS service, start AS minute, sumMap(w.latency) AS latency
                FROM sluice.windows_1m AS w FINAL
                WHERE side = 'client'
                    AND start >= $__fromTime - INTERVAL {_MINUTES} MINUTE
                    AND start <= $__toTime + INTERVAL {_MINUTES} MINUTE
                    AND start < {_UNDER_WAY}
                    AND (peer, start) IN (SELECT service, minute FROM minutes)
                GROUP BY service, minute
            )
        SELECT
            m.at AS at, m.service AS service, m.side AS side, m.peer AS peer, m.previous AS from_size,
            m.read_back AS to_size,
            avgOrNullIf({_GOOD}, m.minute < toStartOfMinute(m.at)) / 60 AS before_per_s,
            avgOrNullIf({_GOOD}, m.minute > toStartOfMinute(m.at)) / 60 AS after_per_s,
            after_per_s - before_per_s AS gained_per_s
        FROM minutes AS m
        INNER JOIN decisions AS d USING (service, side, peer, revision)
        INNER JOIN called AS c ON c.service = m.service AND c.minute = m.minute
        GROUP BY at, service, side, peer, from_size, to_size
        ORDER BY at DESC
    """
    panel = rows(
        "Goodput before and after changes",
        f"The newest {_CHANGES} changes of server pools: calls per second within the decision's threshold, means "
        f"of the minutes with calls in the {_MINUTES} min before and after. Only whole minutes count: "
        "the first one after a change shows within three minutes. The load may differ between them.",
        table(sql),
        "No actuator changed a server pool in this time range, or no caller's spans name it.",
    )
    panel = with_units(panel, before_per_s="reqps", after_per_s="reqps", gained_per_s="reqps")
    colors = steps((0, "green"), base="red").build().to_json()
    cell = set_to("custom.cellOptions", {"type": "color-text"})
    panel = panel.override_by_name("gained_per_s", [cell, set_to("thresholds", colors)])
    return linked(panel, "service", "Pool", POOL_URL)
