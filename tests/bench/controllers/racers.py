"""Everyone in the race, by name: what decides, how often, on how much, in which buckets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bench.controllers import rivals
from bench.controllers.estimated import Published
from bench.controllers.in_loop import DELAY_S, NOTHING, PERIOD_S, InLoop, Sized, window_s
from bench.controllers.signal import Limiter, Rule
from bench.racing import BOUNDS, HELD, Racer
from sluice.model.keys import PoolKey
from sluice.pools.estimate.models import BELIEF, ESTIMATORS
from testbed.single.names import POOL, SERVICE
from testbed.single.run import FastRun

SLUICE, HARDWARE = "sluice", "hardware only"
REPORTS = f"{SLUICE} with reports"
"""Sluice where targets report how many of their threads are in use, as the real actuator's targets can."""
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 23, 29, 36, 45, 57, 71, 89, 111, 139, 173, 192)
"""Held: steps of about 1.25."""


def limiter(rule: Callable[[], Rule]) -> Racer:
    """From its own first limit, whatever the pool's: where that is a bad start, it has a better one than the others."""
    period_s = rule().period_s
    return Racer(lambda _: Limiter({POOL: rule()}), period_s, period_s)


def in_loop(model: str = BELIEF, bucket_ms: int = 100, reports: bool = False) -> Racer:
    """The recommender's own loop, with its defaults but for the model and its buckets."""

    def build(run: FastRun) -> InLoop:
        key = PoolKey(SERVICE, "server", "")
        sized = Sized(POOL, key, run.size, SERVICE, run.cores, run.scenario.slo_ms, BOUNDS)
        return InLoop([sized], model, bucket_ms, reports=reports)

    return Racer(build, PERIOD_S, window_s(model), bucket_ms, DELAY_S)


def published(model: str, window_s: float, bucket_ms: int) -> Racer:
    return Racer(lambda _: Published(ESTIMATORS[model], window_s), 15.0, window_s, bucket_ms)


RACERS: dict[str, Racer] = {
    SLUICE: in_loop(),
    REPORTS: in_loop(reports=True),
    f"{SLUICE} with nothing": in_loop(NOTHING),
    "scg with our gates": in_loop("scg-top"),
    "sct with our gates": in_loop("sct", 50),
    HARDWARE: HELD,
    "sct as published": published("sct", 180.0, 50),  # ConScale III-A and III-B
    "scg as published": published("scg-kneedle", 60.0, 100),  # Sora 4.1
    **{name: limiter(rule) for name, rule in rivals.rows().items()},
    **{f"fixed {size}": replace(HELD, threads=size) for size in SIZES},
}
