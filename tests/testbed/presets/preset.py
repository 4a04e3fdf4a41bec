"""What a preset is: a scenario that can be built at will, and what its pools are judged by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..simulation import Scenario


class Build(Protocol):
    def __call__(
        self,
        users: int,
        sizes: Mapping[str, int],
        shape: Callable[[float], float] | None = None,
    ) -> Scenario:
        """``sizes`` replaces the pools' first sizes by name, ``shape`` the preset's own load shape."""
        ...


@dataclass(frozen=True)
class Preset:
    name: str
    build: Build
    users: int
    """At the peak."""
    user_threshold_ms: float
    """Within which a response is good to a user."""
    threshold_ms: Mapping[str, float]
    """By pool, the one to sweep first: within which a response is good to those who judge it (``judge.judges``)."""
    sizes: tuple[int, ...]
    """Worth trying for the first pool."""
    minutes: float = 5.0
    """Long enough to tell sizes apart: of the 12 of ``LARGE_VARIATION`` the first 5 hold two of its three bursts."""
    warm_up_s: float = 10.0
    """At the start, not counted: users come one think time after the other."""
