"""A linear constraint over numeric parameters: at_least <= sum of factor x value <= at_most.

It does not apply in a configuration where one of its parameters has no value (its `when` does not hold).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.tuning.space.parameter import Float, Integer, Value, ValueKind

# Tolerance for the rounding of values and sums.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Linear:
    """`factors`: (parameter, factor) pairs. A bound of None does not apply."""

    factors: tuple[tuple[str, float], ...]
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, configuration: Mapping[str, Value]) -> bool:
        if any(name not in configuration for name, _ in self.factors):
            return True
        total = sum(factor * float(configuration[name]) for name, factor in self.factors)
        slack = _ROUNDING * max(1.0, abs(total))
        above = self.at_most is None or total <= self.at_most + slack
        return above and (self.at_least is None or total >= self.at_least - slack)

    def reach(self, kinds: Mapping[str, ValueKind]) -> tuple[float, float]:
        """The least and the largest sum within the parameters' own ranges."""
        least = most = 0.0
        for name, factor in self.factors:
            kind = kinds[name]
            if not isinstance(kind, Integer | Float):
                raise TypeError(f"{name} is not numeric")
            ends = factor * kind.low, factor * kind.high
            least, most = least + min(ends), most + max(ends)
        return least, most

    def __str__(self) -> str:
        terms = " + ".join(f"{factor:g} {name}" if factor != 1 else name for name, factor in self.factors)
        lower = f"{self.at_least:g} <= " if self.at_least is not None else ""
        return f"{lower}{terms}" + (f" <= {self.at_most:g}" if self.at_most is not None else "")
