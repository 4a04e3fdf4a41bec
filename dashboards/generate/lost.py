"""Panels of losses: records deleted before a job read them, rows that a store refused."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.parts import FULL, rows, set_to


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
            "By table and reason, with the newest row's key and the store's response. column_missing: rows written "
            "without a column that the table lacks. otlp_dead_letter has the rows.",
            table(sql),
        )
        .span(FULL)
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
            "Records deleted before a job read them",
            "Gaps between the last record of a partition that a job had read and the first one that the topic still "
            "had. Make the topic's retention longer, or the job faster.",
            table(sql),
        )
        .span(FULL)
        .override_by_name("records", [set_to("unit", "short")])
    )
