"""Panels of spans that no window counts, and of sampled services."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.levels import newest
from generate.parts import FULL, rows, with_units


def panels() -> list[Builder[Panel]]:
    return [left_out(), sampled()]


def left_out() -> table_panel.Panel:
    sql = f"""
        SELECT service, side, peer, operation, action, rule, spans, mean_ms, share
        FROM sluice.v_spans_left_out_between({newest(60)})
        ORDER BY share DESC
        LIMIT 200
    """
    text = "By rule, in the newest hour of the time range; `share` is of all spans of the service on that side."
    panel = rows("Spans that no window counts", text, table(sql), "Every span is counted.").span(FULL)
    return with_units(panel, mean_ms="ms", share="percentunit")


def sampled() -> table_panel.Panel:
    sql = """
        SELECT
            service, sum(s.spans) AS spans, sum(s.stated) / sum(s.spans) AS state_sampling,
            sum(s.adjusted) / 1024 / sum(s.spans) AS traces_a_trace, sum(s.tail) AS of_a_tail_sampler,
            max(window) AS newest
        FROM sluice.service_sampling AS s FINAL
        WHERE window >= greatest($__fromTime, $__toTime - INTERVAL 1 HOUR) AND window <= $__toTime
        GROUP BY service
        HAVING sum(s.stated) + sum(s.tail) > 0
        ORDER BY service
        LIMIT 200
    """
    text = (
        "Services whose spans state that not every trace was kept, in the newest hour of the time range; "
        "`traces_a_trace`: how many traces a kept one stands for."
    )
    panel = rows("Sampled services", text, table(sql), "No span states that its trace was sampled.").span(FULL)
    return with_units(panel, state_sampling="percentunit")
