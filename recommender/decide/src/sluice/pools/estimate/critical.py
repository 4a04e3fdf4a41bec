"""Which service of an execution path is the bottleneck (Sora 3.2; uConAdapter 4.1).

Two published signals and a third one beside them, all over the traces of one root operation:

- candidates by CPU: utilization of at least 80 % of the limit;
- Pearson's correlation of the service's processing time on the critical path with the end to end time;
- congestion ratio, p99 / p50 of that processing time.

Ranked by the first two, CPU candidates first. The third is reported; `tests/bench/localization.py` measures each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.pools.estimate.model import Reason

# Where Kubernetes' autoscaler adds replicas by default.
HIGH_UTILIZATION = 0.8
# Standard error of a correlation near 0 over 30 traces: 0.18.
LEAST_TRACES = 30
# What traces alone cannot tell apart.
CPU_UNKNOWN = Reason("CPU_UNKNOWN", "a wait for a service's threads counts for its caller: look at what it calls, too")
# Below it processing time explains less than a tenth of the end to end time's variance (r^2 = 0.09).
WEAK_CORRELATION = 0.3
CONGESTED = 3.0


@dataclass(frozen=True)
class PathTimes:
    """A service on the critical paths of one root operation; sums in ns and ns^2, exact.

    traces            whose path leads through the service
    self_sum, self_sum2     of its processing time x on the path, and of x^2
    e2e_sum, e2e_sum2, self_x_e2e   of the end to end time y of the same traces, of y^2 and of x y
    p50_ms, p99_ms    of x
    cpu               of its busiest instance, used / limit; None: not known
    """

    service: str
    traces: int
    self_sum: int
    self_sum2: int
    e2e_sum: int
    e2e_sum2: int
    self_x_e2e: int
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu: float | None = None


@dataclass(frozen=True)
class Ranked:
    """A service with its signals; None where a signal is not known. Shares are of all traces of the operation."""

    service: str
    share_of_traces: float
    mean_ms: float
    share_of_end_to_end: float
    correlation: float | None
    congestion_ratio: float | None
    cpu: float | None
    reasons: tuple[Reason, ...]

    @property
    def is_cpu_candidate(self) -> bool:
        return self.cpu is not None and self.cpu >= HIGH_UTILIZATION


@dataclass(frozen=True)
class Localization:
    """`ranking`: the most critical first. `critical`: its head where the signals name one, else None.

    reasons: why it, or why none; notes: what to keep in mind.
    """

    traces: int
    ranking: tuple[Ranked, ...]
    critical: str | None
    reasons: tuple[Reason, ...]
    notes: tuple[Reason, ...] = ()


def localize(root: str, services: Sequence[PathTimes]) -> Localization:
    """`services`: all on the paths of one root operation; that of `root` is on each of them."""
    whole = next((each for each in services if each.service == root), None)
    if whole is None or whole.traces < LEAST_TRACES:
        traces = whole.traces if whole else 0
        text = f"{traces:,} complete traces, {LEAST_TRACES} are needed"
        return Localization(traces, (), None, (Reason("TOO_FEW_TRACES", text),))
    ranking = tuple(sorted((_signals(each, whole) for each in services), key=_order))
    first = ranking[0]
    notes = (CPU_UNKNOWN,) if any(each.cpu is None for each in services) and not first.is_cpu_candidate else ()
    if first.is_cpu_candidate or (first.correlation or 0.0) >= WEAK_CORRELATION:
        return Localization(whole.traces, ranking, first.service, first.reasons, notes)
    text = f"no CPU known to be at {HIGH_UTILIZATION:.0%}, and no service's time moves with the end to end time"
    return Localization(whole.traces, ranking, None, (Reason("NO_BOTTLENECK", text),), notes)


def correlation(n: int, sx: int, sxx: int, sy: int, syy: int, sxy: int) -> float | None:
    """Pearson's, from exact sums; None for fewer than two pairs, and where x or y is always the same.

    (1, 10), (2, 30), (3, 20): correlation(3, 6, 14, 60, 1400, 130) = 0.5.
    """
    x, y = n * sxx - sx * sx, n * syy - sy * sy
    if x <= 0 or y <= 0:
        return None
    return max(-1.0, min(1.0, (n * sxy - sx * sy) / (math.sqrt(x) * math.sqrt(y))))


def _signals(each: PathTimes, whole: PathTimes) -> Ranked:
    """Correlation over all traces of the operation: where the path passes the service by, it took 0.

    Over its own traces alone, one that 5 of 1,000 paths lead through could come first and explain nothing.
    """
    r = correlation(whole.traces, each.self_sum, each.self_sum2, whole.e2e_sum, whole.e2e_sum2, each.self_x_e2e)
    ratio = each.p99_ms / each.p50_ms if each.p99_ms is not None and each.p50_ms else None
    reasons = []
    if each.cpu is not None and each.cpu >= HIGH_UTILIZATION:
        reasons.append(Reason("CPU_HIGH", f"CPU at {each.cpu:.0%} of its limit"))
    if r is not None and r >= WEAK_CORRELATION:
        text = f"processing time moves with the end to end time, correlation {r:.2f}"
        reasons.append(Reason("MOVES_WITH_END_TO_END", text))
    if ratio is not None and ratio >= CONGESTED:
        reasons.append(Reason("CONGESTED", f"p99 is {ratio:.1f} times p50"))
    return Ranked(
        service=each.service,
        share_of_traces=each.traces / whole.traces,
        mean_ms=each.self_sum / each.traces / 1e6 if each.traces else 0.0,
        share_of_end_to_end=each.self_sum / whole.e2e_sum if whole.e2e_sum else 0.0,
        correlation=r,
        congestion_ratio=ratio,
        cpu=each.cpu,
        reasons=tuple(reasons),
    )


def _order(each: Ranked) -> tuple[bool, float, str]:
    return not each.is_cpu_candidate, -(each.correlation if each.correlation is not None else -1.0), each.service
