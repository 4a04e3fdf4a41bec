"""Panels of all pools: states, candidates and actuations."""

from grafana_foundation_sdk.builders import table as table_panel
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.clickhouse import table
from generate.parts import FULL, POOL_URL, colored, linked, rows, with_units
from generate.variables import among

_COLORS = {
    "PROVIDED": "green",
    "GUARDED": "light-green",
    "UNSATURATED": "blue",
    "LEARNING": "yellow",
    "PAUSED": "purple",
    "STALE": "orange",
    "NO_DATA": "red",
}


_OUTCOMES = {"APPLIED": "green", "REFUSED": "orange", "FAILED": "red"}
_CHOSEN = among("service", "services")


def panels() -> list[Builder[Panel]]:
    return [states(), actuations()]


def states() -> table_panel.Panel:
    sql = f"""
        SELECT service, side, peer, state, basis, action, current, target, lower_bound, upper_bound, confidence,
               threshold_ms, arrayStringConcat(reasons, ', ') AS reasons, age_s
        FROM sluice.v_pool_now
        WHERE {_CHOSEN}
        ORDER BY service, side, peer
        LIMIT 1000
    """
    panel = rows(
        "States",
        "The newest decision on every pool, the first 1,000 by name. `-`: the decision has no such value. A service is "
        "a link to its pool.",
        table(sql),
        "No decisions: the decider has not run, or the configuration has no pools.",
    ).span(FULL)
    panel = with_units(panel, confidence="percentunit", threshold_ms="ms", age_s="s")
    return linked(colored(panel, "state", _COLORS), "service", "Pool", POOL_URL)


def candidates() -> table_panel.Panel:
    sql = f"""
        SELECT service, side, peer, found_by, found_at, concurrency, instances, size, size_from, why
        FROM sluice.v_candidates_now
        WHERE {_CHOSEN}
        ORDER BY concurrency DESC
        LIMIT 1000
    """
    text = (
        "What spans show as possible pools, and why each is a pool or none. Empty where the configuration lists pools."
    )
    empty = "No candidates: the configuration lists the pools, or spans show none within a day."
    return rows("Candidates", text, table(sql), empty).span(FULL)


def actuations() -> table_panel.Panel:
    sql = f"""
        SELECT at, service, side, peer, target_name, instance, toString(outcome) AS outcome, previous, requested,
               read_back, by, detail
        FROM sluice.actuations FINAL
        WHERE $__timeFilter_ms(at) AND outcome != 'OBSERVED' AND {_CHOSEN}
        ORDER BY at DESC
        LIMIT 100
    """
    text = "Sizes that actuators wrote or refused to write, and the size read back."
    panel = rows("Actuations", text, table(sql), "No actuator wrote a size in this time range.").span(FULL)
    return linked(colored(panel, "outcome", _OUTCOMES), "service", "Pool", POOL_URL)
