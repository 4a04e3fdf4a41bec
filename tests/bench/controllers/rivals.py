"""The limiters that Sluice is raced against: `RIVALS` by name as they are published, `rows` as they are raced.

With old data Envoy's gradient updates once a second, as the others do, and not every 100 ms: that would be 20
corrections before the first one's effect is seen, and its limit then swings between 3 and the pool's most.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.controllers.aimd import Aimd
from bench.controllers.correlated import Correlated
from bench.controllers.delayed import Delayed
from bench.controllers.envoy_gradient import EnvoyGradient
from bench.controllers.gradient2 import Gradient2
from bench.controllers.hill_climbing import HillClimbing
from bench.controllers.notified import Notified
from bench.controllers.signal import Rule
from bench.controllers.vegas import Vegas

RIVALS: dict[str, Callable[[], Rule]] = {
    "gradient2": Gradient2,
    "vegas": Vegas,
    "aimd": Aimd,
    "correlated": Correlated,
    "hill climbing": HillClimbing,
    "envoy gradient": EnvoyGradient,
}

DELAY_S = 2.0
"""Age of the data that a trace pipeline delivers (design section 7, freshness)."""


WITH_OLD_DATA: dict[str, Callable[[], Rule]] = RIVALS | {"envoy gradient": lambda: EnvoyGradient(period_s=1.0)}


def rows() -> dict[str, Callable[[], Rule]]:
    """Each three times: ``vegas`` with data 2 s old, that as ``vegas (told of scaling)``, and ``vegas (undelayed)``."""
    results: dict[str, Callable[[], Rule]] = {}
    for name, rule in RIVALS.items():
        late = _late(WITH_OLD_DATA[name])
        results[name] = late
        results[f"{name} (told of scaling)"] = _notified(late)
        results[f"{name} (undelayed)"] = rule
    return results


def _late(rule: Callable[[], Rule]) -> Callable[[], Rule]:
    return lambda: Delayed(rule(), DELAY_S)


def _notified(rule: Callable[[], Rule]) -> Callable[[], Rule]:
    return lambda: Notified(rule())
