"""Kubernetes' horizontal autoscaler on each service of a mesh: numbers of containers from what they used."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from .calibration import Floats

TOLERANCE = 0.1
"""Of the ratio of utilization to target, within which the number stays (Kubernetes' default)."""
STABILIZATION_S = 300.0
"""The number falls only to the highest answer of this time (Kubernetes' default)."""


def desired(count: int, utilization: float, target: float) -> int:
    """Worked: 4 containers at 45 % of a target of 30 % become 6; at 32 % they stay 4."""
    ratio = utilization / target
    return count if abs(ratio - 1.0) <= TOLERANCE else max(1, math.ceil(count * ratio - 1e-9))


class MeshAutoscaler:
    def __init__(self, counts: Sequence[int], most: Sequence[int], target: float, ready_s: float) -> None:
        """``counts``, ``most``: containers of each service, at first and at most. ``target``: utilization of CPU
        limits, 0 to 1. ``ready_s``: time until a new container takes calls."""
        self.counts = list(counts)
        self._most, self._target, self._ready_s = list(most), target, ready_s
        self._answers: list[deque[tuple[float, int]]] = [deque() for _ in counts]
        self._coming: list[deque[tuple[float, int]]] = [deque() for _ in counts]
        """By service: when containers are ready, and how many there are then."""

    def scale(self, now_s: float, utilization: Floats) -> list[int]:
        """Containers of each service that take calls now. ``utilization``: of each service's, (services,)."""
        for i, used in enumerate(utilization.tolist()):
            coming, answers = self._coming[i], self._answers[i]
            while coming and coming[0][0] <= now_s:
                self.counts[i] = coming.popleft()[1]
            asked = coming[-1][1] if coming else self.counts[i]
            answers.append((now_s, min(self._most[i], desired(self.counts[i], used, self._target))))
            while answers[0][0] <= now_s - STABILIZATION_S:
                answers.popleft()
            if answers[-1][1] > asked:
                coming.append((now_s + self._ready_s, answers[-1][1]))
            elif not coming:
                self.counts[i] = min(self.counts[i], max(answer for _, answer in answers))
        return list(self.counts)
