"""Panels of all pools: states and actuations."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.parts import rows, set_to, with_units

_COLORS = {
    "PROVIDED": "green",
    "GUARDED": "light-green",
    "UNSATURATED": "blue",
    "LEARNING": "yellow",
    "PAUSED": "purple",
    "STALE": "orange",
    "NO_DATA": "red",
}


def panels() -> list[Builder[Panel]]:
    return [states(), candidates(), actuations()]


def states() -> table_panel.Panel:
    sql = """
        SELECT service, side, peer, state, basis, action, current, target, lower_bound, upper_bound, confidence,
               threshold_ms, arrayStringConcat(reasons, ', ') AS reasons, age_s
        FROM sluice.v_pool_now
        ORDER BY service, side, peer
    """
    colors = [{"type": "value", "options": {state: {"color": color} for state, color in _COLORS.items()}}]
    panel = rows("States", "The newest decision on every pool. An empty target is not a target of 0.", table(sql))
    panel = with_units(panel, confidence="percentunit", threshold_ms="ms", age_s="s")
    cell = set_to("custom.cellOptions", {"type": "color-text"})
    return panel.override_by_name("state", [cell, set_to("mappings", colors)])


def candidates() -> table_panel.Panel:
    sql = """
        SELECT service, side, peer, found_by, found_at, concurrency, instances, size, size_from, why
        FROM sluice.v_candidates_now
        ORDER BY concurrency DESC
        LIMIT 1000
    """
    text = (
        "What spans show as possible pools, and why each is a pool or none. Empty where the configuration lists pools."
    )
    return rows("Candidates", text, table(sql))


def actuations() -> table_panel.Panel:
    sql = """
        SELECT at, service, side, peer, target_name, instance, toString(outcome) AS outcome, basis, previous,
               requested, read_back, detail
        FROM sluice.v_actuation_history
        WHERE $__timeFilter_ms(at)
        ORDER BY at DESC
        LIMIT 100
    """
    return rows("Actuations", "Sizes that actuators wrote, and the size read back.", table(sql))
