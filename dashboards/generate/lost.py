"""Panels of what was lost: records deleted before they were read, rows that a store refused."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.parts import WHOLE, rows, set_to


def panels() -> list[Builder[Panel]]:
    return [missed(), refused()]


def refused() -> table_panel.Panel:
    sql = """
        SELECT
            r.store AS store,
            r.table AS into,
            r.reason AS reason,
            sum(r.rows) AS lost,
            max(r.at) AS newest,
            argMax(r.key, r.at) AS example,
            argMax(r.detail, r.at) AS answer
        FROM sluice.rejected_rows AS r FINAL
        WHERE $__timeFilter_ms(r.at)
        GROUP BY store, into, reason
        ORDER BY lost DESC
        LIMIT 100
    """
    return (
        rows(
            "Rows that a store refused",
            "By table and reason, with the newest one's key and what the store answered. column_missing: rows written "
            "without a column that the table does not have. The rows stand on otlp_dead_letter.",
            table(sql),
        )
        .span(WHOLE)
        .override_by_name("answer", [set_to("custom.minWidth", 240)])
    )


def missed() -> table_panel.Panel:
    sql = """
        SELECT
            flink_job, topic, partition, first_missing, first_read - first_missing AS records,
            received AS next_record_at, written AS noticed
        FROM sluice.offset_gaps FINAL
        WHERE $__timeFilter_ms(written)
        ORDER BY noticed DESC
        LIMIT 100
    """
    return (
        rows(
            "Records deleted before they were read",
            "Gaps between what a job had read of a partition and the first record that the topic still had. Make the "
            "topic's retention longer, or the job faster.",
            table(sql),
        )
        .span(WHOLE)
        .override_by_name("records", [set_to("unit", "short")])
    )
