"""Kinds of tunable parameters, and how each maps a unit coordinate u in [0, 1] to a value.

All methods move in the unit cube, with one coordinate per parameter:

    integer  [low, high] is cut into high - low + 1 cells of equal width, or of equal ratio's width with `log`;
             u selects its cell. Worked: 1 to 4: u = 0.30 is in [0.25, 0.50), so 2, whose middle is 0.375.
             With log the cells are those of [low - 1/2, high + 1/2] on a log scale.
    float    low + u (high - low), or low (high / low)^u with `log`
    category, boolean  as an integer over their choices; but choices have no order (`ordered`)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = bool | int | float | str
Choice = TypeVar("Choice", bool, str)


@dataclass(frozen=True)
class Requirement:
    """A parameter has a value only where an earlier parameter has one of `values`."""

    parameter: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{self.parameter} is {' or '.join(map(str, self.values))}"


class ValueKind(ABC):
    """How the values of one kind lie in [0, 1]."""

    @property
    @abstractmethod
    def levels(self) -> int | None:
        """The number of values; None: a continuum."""

    @property
    def ordered(self) -> bool:
        """Whether neighbours in [0, 1] are similar."""
        return True

    @property
    @abstractmethod
    def legal(self) -> str:
        """The legal range, for messages."""

    @abstractmethod
    def takes(self, value: object) -> bool:
        """Whether `value` is of the kind and within its range. True is not an integer."""

    @abstractmethod
    def value(self, unit: float) -> Value:
        """The value at a unit coordinate."""

    @abstractmethod
    def unit(self, value: Value) -> float:
        """A coordinate that maps to the value: the middle of its cell."""

    def snapped(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates, each moved to the middle of its cell: `unit(value(u))` for an array of any shape."""
        if self.levels is None:
            return units
        cells = np.minimum((units * self.levels).astype(np.int64), self.levels - 1)
        return np.asarray((cells + 0.5) / self.levels, dtype=np.float64)


@dataclass(frozen=True)
class Parameter:
    """A tunable parameter: its name, its legal values and its default.

    service  the service that it belongs to; empty: none in particular
    when     None: it always has a value
    """

    name: str
    kind: ValueKind
    default: Value
    service: str = ""
    when: Requirement | None = None


@dataclass(frozen=True)
class Integer(ValueKind):
    low: int
    high: int
    log: bool = False

    @property
    def levels(self) -> int:
        return self.high - self.low + 1

    @property
    def legal(self) -> str:
        return f"{self.low} to {self.high}, whole"

    def takes(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def value(self, unit: float) -> int:
        if not self.log:
            return min(self.low + int(unit * self.levels), self.high)
        first, last = math.log(self.low - 0.5), math.log(self.high + 0.5)
        return min(max(round(math.exp(first + unit * (last - first))), self.low), self.high)

    def unit(self, value: Value) -> float:
        if not self.log:
            return (float(value) - self.low + 0.5) / self.levels
        first, last = math.log(self.low - 0.5), math.log(self.high + 0.5)
        return (math.log(float(value)) - first) / (last - first)

    def snapped(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.log:
            return super().snapped(units)
        first, last = math.log(self.low - 0.5), math.log(self.high + 0.5)
        values = np.clip(np.rint(np.exp(first + units * (last - first))), self.low, self.high)
        return np.asarray((np.log(values) - first) / (last - first), dtype=np.float64)


@dataclass(frozen=True)
class Float(ValueKind):
    low: float
    high: float
    log: bool = False

    @property
    def levels(self) -> None:
        return None

    @property
    def legal(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def takes(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def value(self, unit: float) -> float:
        at = self.low * (self.high / self.low) ** unit if self.log else self.low + unit * (self.high - self.low)
        return min(max(at, self.low), self.high)  # rounding may leave the range by an ulp

    def unit(self, value: Value) -> float:
        if self.log:
            return math.log(float(value) / self.low) / math.log(self.high / self.low)
        return (float(value) - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Category(ValueKind):
    choices: tuple[str, ...]

    @property
    def levels(self) -> int:
        return len(self.choices)

    @property
    def ordered(self) -> bool:
        return False

    @property
    def legal(self) -> str:
        return ", ".join(self.choices)

    def takes(self, value: object) -> bool:
        return isinstance(value, str) and value in self.choices

    def value(self, unit: float) -> str:
        return _cell(unit, self.choices)

    def unit(self, value: Value) -> float:
        return (self.choices.index(str(value)) + 0.5) / len(self.choices)


@dataclass(frozen=True)
class Boolean(ValueKind):
    @property
    def levels(self) -> int:
        return 2

    @property
    def ordered(self) -> bool:
        return False

    @property
    def legal(self) -> str:
        return "true, false"

    def takes(self, value: object) -> bool:
        return isinstance(value, bool)

    def value(self, unit: float) -> bool:
        return _cell(unit, (False, True))

    def unit(self, value: Value) -> float:
        return 0.75 if value else 0.25


def _cell(unit: float, choices: Sequence[Choice]) -> Choice:
    return choices[min(int(unit * len(choices)), len(choices) - 1)]
