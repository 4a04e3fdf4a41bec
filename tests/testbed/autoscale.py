"""Hardware autoscalers as rules: numbers in, number out. ``autoscale_agent`` runs them inside a simulation."""

from collections import deque
from dataclasses import dataclass, field
from math import ceil, isfinite


def desired_replicas(replicas: int, utilization: float, target: float = 0.8, tolerance: float = 0.1) -> int:
    """Kubernetes' horizontal pod autoscaler: ceil(replicas * utilization / target), unless the ratio is near 1.

    ``utilization``: mean CPU used of the CPU limit, 0..1. Worked: 3 replicas at 0.95: ratio 1.1875, ceil(3.5625) = 4;
    at 0.87: ratio 1.0875, within the tolerance of 0.1, so 3; at 0.20: ceil(0.75) = 1.
    """
    ratio = utilization / target
    if abs(ratio - 1.0) <= tolerance:
        return replicas
    return max(1, ceil(round(replicas * ratio, 9)))


@dataclass(slots=True)
class HorizontalScaler:
    """``desired_replicas`` with its stabilization: down only to the largest answer of the last 300 s."""

    lowest: int = 1
    highest: int = 10
    target: float = 0.8
    tolerance: float = 0.1
    stabilization_s: float = 300.0
    _answers: deque[tuple[float, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        if not (1 <= self.lowest <= self.highest and self.target > 0 and 0 <= self.tolerance < 1):
            raise ValueError(f"scale replicas: needs 1 <= lowest <= highest, target > 0, tolerance 0 to 1; got {self}")

    def decide(self, now_s: float, replicas: int, utilization: float) -> int:
        desired = desired_replicas(replicas, utilization, self.target, self.tolerance)
        desired = min(max(desired, self.lowest), self.highest)
        self._answers.append((now_s, desired))
        while self._answers[0][0] <= now_s - self.stabilization_s:
            self._answers.popleft()
        if desired >= replicas:
            return desired
        return min(replicas, max(answer for _, answer in self._answers))


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
