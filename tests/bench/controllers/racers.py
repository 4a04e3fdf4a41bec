"""Everyone in the race: what decides, how often, on how much, in which buckets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.controllers.estimated import Fixed, Published
from bench.controllers.in_loop import PERIOD_S, SETTLE_S, WINDOW_S, InLoop
from bench.controllers.rivals import RIVALS
from bench.controllers.signal import Limiter, Rule
from sluice.estimate.models import DEFAULT, ESTIMATORS
from testbed.adjustable import AdjustablePool
from testbed.controller import Controller
from testbed.presets.cart_bursts import CART_BURSTS
from testbed.presets.sock_shop import CART_THREADS

SLO_S = CART_BURSTS.user_threshold_ms / 1e3
HARDWARE, SCT, SCG = "hardware-only", "sct", "scg"

BOUNDS = (1, 256)


@dataclass(frozen=True)
class Racer:
    """settle_s: the newest buckets that are left out, as spans of requests in flight are missing in them."""

    build: Callable[[AdjustablePool], Controller]
    period_s: float
    window_s: float
    bucket_ms: int = 100
    settle_s: float = 0.0


def _limiter(rule: Callable[[], Rule]) -> Racer:
    period_s = rule().period_s
    return Racer(lambda _: Limiter({CART_THREADS: rule()}), period_s, period_s)


def _in_loop(model: str, bucket_ms: int) -> Racer:
    def build(pool: AdjustablePool) -> Controller:
        return InLoop(pool, CART_BURSTS.threshold_ms[CART_THREADS], model, bucket_ms, BOUNDS)

    return Racer(build, PERIOD_S, WINDOW_S, bucket_ms, SETTLE_S)


def _published(model: str, window_s: float, bucket_ms: int) -> Racer:
    return Racer(lambda _: Published(ESTIMATORS[model], window_s), 15.0, window_s, bucket_ms)


RACERS: dict[str, Racer] = {
    HARDWARE: Racer(lambda _: Fixed(), 15.0, 15.0),
    "sct as published": _published("sct", 180.0, 50),  # ConScale III-A and III-B
    SCT: _in_loop("sct", 50),
    "scg as published": _published("scg-kneedle", 60.0, 100),  # Sora 4.1
    SCG: _in_loop(DEFAULT, 100),
    **{name: _limiter(rule) for name, rule in RIVALS.items()},
}
