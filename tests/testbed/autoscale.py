"""Hardware autoscalers as rules: numbers in, number out. `single/run.py` and `path/run.py` run them in a simulation."""

from dataclasses import dataclass
from math import isfinite


@dataclass(slots=True)
class VerticalScaler:
    """CPU limit by thresholds, a step at a time: up above ``high``, down below ``low`` for ``patience`` samples on end.

    Sora 5.2 gives ConScale and itself such a rule; the 80 % is theirs (Sora 5.3, ConScale V), going down later than up
    ("quick start but slow turn off") is ConScale's, the values of ``low`` and ``patience`` are ours.
    """

    lowest: float = 1.0
    highest: float = 4.0
    step: float = 1.0
    high: float = 0.8
    low: float = 0.3
    patience: int = 4
    _calm: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.lowest <= self.highest and self.step > 0 and isfinite(self.highest)):
            raise ValueError(f"scale a CPU limit: needs 0 < lowest <= highest and step > 0; got {self}")
        if not (0 <= self.low < self.high and self.patience >= 1):
            raise ValueError(f"scale a CPU limit: needs 0 <= low < high and patience >= 1; got {self}")

    def decide(self, cores: float, utilization: float) -> float:
        """Worked: at 2 cores and 0.85 it answers 3; at 4 and 0.2 it stays 4 three times, and then answers 3."""
        if utilization > self.high:
            self._calm = 0
            return max(cores, min(cores + self.step, self.highest))
        self._calm = self._calm + 1 if utilization < self.low else 0
        if self._calm < self.patience:
            return cores
        self._calm = 0
        return min(cores, max(cores - self.step, self.lowest))


@dataclass(slots=True)
class HorizontalScaler:
    """Replicas by thresholds, one at a time, as ConScale V adds and removes virtual machines: "quick start but slow
    turn off". The 80 % is theirs, ``low`` and ``patience`` are ours, as in ``VerticalScaler``."""

    lowest: int = 1
    highest: int = 4
    high: float = 0.8
    low: float = 0.3
    patience: int = 4
    _calm: int = 0

    def decide(self, replicas: int, utilization: float) -> int:
        """Worked: 2 replicas at 0.85 become 3; 3 at 0.2 stay three times, and then become 2."""
        if utilization > self.high:
            self._calm = 0
            return max(replicas, min(replicas + 1, self.highest))
        self._calm = self._calm + 1 if utilization < self.low else 0
        if self._calm < self.patience:
            return replicas
        self._calm = 0
        return min(replicas, max(replicas - 1, self.lowest))
