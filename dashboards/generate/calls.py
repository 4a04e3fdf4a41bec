"""The panel of the call graph."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.parts import FULL, rows, with_units


def panels() -> list[Builder[Panel]]:
    return [edges()]


def edges() -> table_panel.Panel:
    sql = """
        SELECT caller, callee, rate_per_s, error_ratio, p50_ms, p95_ms, p99_ms, age_s
        FROM sluice.v_call_graph
        ORDER BY rate_per_s DESC
        LIMIT 200
    """
    panel = rows("Calls between services", "Each edge, in its newest 10 s with a call.", table(sql)).span(FULL)
    return with_units(
        panel, rate_per_s="reqps", error_ratio="percentunit", p50_ms="ms", p95_ms="ms", p99_ms="ms", age_s="s"
    )
