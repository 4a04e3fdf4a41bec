"""Panels of one pool, which the variables choose: sizes, goodput, concurrency, and the wait before the pool."""

from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import LineInterpolation
from grafana_foundation_sdk.models.dashboard import Panel

from generate import curve
from generate.clickhouse import time_series
from generate.levels import STEP, TIME, windows
from generate.parts import FULL, lines, set_to
from generate.variables import IN_POOL, number, text

# Spans one level up, where the wait for the pool is visible: as in the view v_goodput_buckets.
_ABOVE = f"""
    {text("side")} = 'server' AND side = 'client' AND peer = {text("service")}
    OR {text("side")} = 'client' AND side = 'server' AND service = {text("service")}"""

# A legal size beyond so many times the sizes in use would flatten their lines.
_NEAR = 4


def panels() -> list[Builder[Panel]]:
    return [sizes().span(FULL), curve.curve(), goodput(), in_flight(), wait()]


def sizes() -> timeseries.Panel:
    sql = f"""
        SELECT
            at AS time,
            target AS recommended,
            current,
            unguarded_target AS unguarded,
            lower_bound AS lower,
            upper_bound AS upper,
            least AS smallest_legal,
            if(most <= {_NEAR} * greatest(ifNull(current, 1), ifNull(target, 1)), most, NULL) AS largest_legal
        FROM sluice.recommendations
        WHERE $__timeFilter_ms(at) AND {IN_POOL}
        ORDER BY time
    """
    dashed = set_to("custom.lineStyle", {"fill": "dash", "dash": [6, 6]})
    legal = [dashed, set_to("color", {"mode": "fixed", "fixedColor": "gray"})]
    hidden = {"legend": True, "tooltip": False, "viz": False}
    band = [
        set_to("custom.lineWidth", 0),
        set_to("custom.showPoints", "never"),
        set_to("custom.hideFrom", hidden),
    ]
    return (
        lines(
            "Recommended and current size: $service $side $peer",
            "Target size, size in force, best size without constraints (unguarded), range, and the legal sizes. The "
            f"largest legal size is left out where it is over {_NEAR} times the others. A gap is a decision without "
            "the value.",
            time_series(sql),
            empty="No decision on this pool in this time range.",
        )
        .line_interpolation(LineInterpolation.STEP_AFTER)
        .override_by_name("recommended", [set_to("color", {"mode": "fixed", "fixedColor": "green"})])
        .override_by_name("current", [set_to("color", {"mode": "fixed", "fixedColor": "blue"})])
        .override_by_name("unguarded", [dashed, set_to("color", {"mode": "fixed", "fixedColor": "yellow"})])
        .override_by_name("smallest_legal", legal)
        .override_by_name("largest_legal", legal)
        .override_by_name("lower", band)
        .override_by_name("upper", [*band, set_to("custom.fillBelowTo", "lower"), set_to("custom.fillOpacity", 12)])
    )


def goodput() -> timeseries.Panel:
    within = f"latency_within(latency, {number('threshold_ms')}) AS good"
    sql = f"""
        SELECT
            time,
            if(by_caller, called_good, own_good) / instances / {STEP} AS goodput,
            if(by_caller, called, ended) / instances / {STEP} AS throughput
        FROM
        (
            SELECT
                {TIME} AS time,
                uniqExactIf(instance, own AND busy_ns > 0) AS instances,
                sumIf(good, own) AS own_good, sumIf(completions, own) AS ended,
                sumIf(good, NOT own) AS called_good, sumIf(completions, NOT own) AS called,
                sum(called) OVER () > 0 AS by_caller
            FROM {windows(f"instance, busy_ns, completions, {within}, {IN_POOL} AS own", f"{IN_POOL} OR {_ABOVE}")}
            GROUP BY time
        )
        WHERE instances > 0
        ORDER BY time
    """
    return lines(
        "Goodput within $threshold_ms ms: $service $side $peer",
        "Completions per second and instance, and the part within the threshold, by the spans of callers if there are "
        "any. From the rollup for the time range: seconds up to 3 h, 10 s up to a day, minutes above.",
        time_series(sql),
        unit="reqps",
    )


def in_flight() -> timeseries.Panel:
    columns = "instance, busy_ns, max_busy_ns / (bucket_ms * 1e6) AS most"
    sql = f"""
        SELECT
            {TIME} AS time,
            sum(busy_ns) / 1e9 / sum(seconds) AS mean,
            max(most) AS highest
        FROM {windows(columns, IN_POOL)}
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "In flight: $service $side $peer",
        "Concurrency of an instance, in rows of the rollup with work: the time-weighted mean, and the highest window.",
        time_series(sql),
    )


def wait() -> timeseries.Panel:
    sql = f"""
        SELECT
            {TIME} AS time,
            latency_quantile_ms(sumMapIf(latency, own), 0.95) AS "p95 of its own spans",
            latency_quantile_ms(sumMapIf(latency, NOT own), 0.95) AS "p95 one level up"
        FROM {windows(f"latency, {IN_POOL} AS own", f"{IN_POOL} OR {_ABOVE}")}
        GROUP BY time
        ORDER BY time
    """
    return lines(
        "Wait before the pool: $service $side $peer",
        "p95 of the pool's own spans, and of the spans one level up: callers of a server pool, requests of a client "
        "pool's service. Of a server pool the distance is the wait for a thread, and the network.",
        time_series(sql),
        unit="ms",
    )
