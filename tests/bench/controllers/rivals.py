"""The limiters that Sluice is raced against, by name."""

from __future__ import annotations

from collections.abc import Callable

from bench.controllers.aimd import Aimd
from bench.controllers.correlated import Correlated
from bench.controllers.gradient2 import Gradient2
from bench.controllers.signal import Rule
from bench.controllers.vegas import Vegas

RIVALS: dict[str, Callable[[], Rule]] = {
    "gradient2": Gradient2,
    "vegas": Vegas,
    "aimd": Aimd,
    "correlated": Correlated,
}
