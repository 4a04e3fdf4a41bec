"""Worlds from a stream of random numbers: sparse, two to four minutes in two to five phases."""

from __future__ import annotations

import math
from random import Random

from .world import Curve, Kind, Phase, Trap, World

KINDS: dict[Kind, float] = {"rises": 3, "hump": 3, "cliff": 2, "flat": 1, "held": 2, "dead": 1}
DELAYS_S = (0.0, 0.5, 1.0, 2.0, 5.0)
CLOCKS_S = (-1.0, 0.0, 1.0)
LIES = 0.3
"""Share of phases in which spans tell another concurrency."""


def world(seed: int, honest: bool = False) -> World:
    return drawn(Random(f"adversary/{seed}"), honest)


def drawn(rng: Random, honest: bool = False) -> World:
    """honest: spans tell what is in flight."""
    size = round(_log(rng, 2, 200))
    unit = _log(rng, 2, 50)
    knee = max(1.0, size * _log(rng, 0.15, 3))
    seconds = rng.randrange(100, 220)
    phases = [_phase(rng, at, size, unit, knee, honest) for at in _starts(rng, seconds)]
    trap = Trap(rng.randrange(3, 60), rng.choice((0.0, 0.1, 0.4, 0.6))) if rng.random() < 0.3 else None
    sets: tuple[tuple[int, int], ...] = ()
    if rng.random() < 0.2:
        sets = ((rng.randrange(20, seconds - 20), round(_log(rng, 2, 200))),)
    delay_s, clock_s = rng.choice(DELAYS_S), rng.choice(CLOCKS_S)
    return World(rng.getrandbits(32), seconds, size, max(256, size), tuple(phases), trap, sets, delay_s, clock_s)


def _starts(rng: Random, seconds: int) -> list[int]:
    later = sorted(rng.randrange(10, seconds - 10) for _ in range(rng.randrange(1, 5)))
    return [0, *dict.fromkeys(later)]


def _phase(rng: Random, at_s: int, size: int, unit: float, knee: float, honest: bool) -> Phase:
    """Of the same service more or less: its curve keeps its unit, mostly."""
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    unit = unit * rng.choice((1.0, 1.0, 1.0, 0.5, 2.0))
    knee = max(1.0, knee * rng.choice((1.0, 1.0, 1.0, 0.4, 2.5)))
    holds = round(size * rng.choice((0.25, 0.5, 0.75, 0.9))) if kind == "held" else 0
    curve = Curve(kind, unit, knee, _log(rng, 0.2, 5), holds)
    full = unit * min(size, knee)
    lies = not honest and rng.random() < LIES
    return Phase(
        at_s,
        curve,
        demand_per_s=max(2.0, full * _log(rng, 0.1, 3)),
        fails=rng.choice((0.0, 0.0, 0.0, 0.05, 0.5)),
        refuses_over=max(1, round(size * rng.choice((0.5, 1.0, 1.2)))) if rng.random() < 0.1 else 0,
        tells=rng.choice((0.0, 0.1, 0.5, 1.3, 2.0, 3.0)) if lies else 1.0,
        jitter=rng.choice((0.0, 0.1, 0.3)),
        silent=rng.random() < 0.05,
    )


def _log(rng: Random, low: float, high: float) -> float:
    """Log-uniform."""
    return low * math.exp(math.log(high / low) * rng.random())
