"""The response-time threshold that splits completions into goodput and badput (Sora 3.2, equation 3).

RTT_i = SLA - sum of the processing times of the services upstream of i. The sum is an allowance from the
configuration here; its source and its arithmetic travel with the value.
"""

from __future__ import annotations

from dataclasses import dataclass

from sluice.config import Pool, Slo
from sluice.config.durations import format_ms


@dataclass(frozen=True)
class Threshold:
    """value_ms > 0; source "slo" or "pool"; detail: the arithmetic in words."""

    value_ms: float
    source: str
    detail: str

    @property
    def value_ns(self) -> int:
        return round(self.value_ms * 1e6)


def threshold_of(pool: Pool, slo: Slo | None) -> Threshold:
    """Worked: SLO checkout 250 ms, upstream 20 ms -> 230 ms, "slo checkout 250 ms - 20 ms upstream"."""
    if slo is not None:
        detail = f"slo {slo.name} {format_ms(slo.latency)} - {format_ms(pool.upstream)} upstream"
        return Threshold(slo.latency - pool.upstream, "slo", detail)
    if pool.threshold is None:
        raise ValueError(f"pool {pool.key} has neither an SLO nor a threshold")
    return Threshold(pool.threshold, "pool", f"set on the pool: {format_ms(pool.threshold)}")
