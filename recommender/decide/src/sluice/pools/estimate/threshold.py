"""The response-time threshold that splits completions into goodput and badput (Sora 3.2, equations 1 to 3).

RTT_i = SLA - sum of the processing times of the services upstream of i, on the critical path. The sum is an allowance
from the configuration, or measured on traces. The value carries which of them it is, and the arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sluice.model.durations import format_ms
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.section import Pool, Slo, Upstream

# The longest legal threshold: each completion is in time.
LONGEST_MS = 3_600_000.0
# A detail names no more targets, or SLOs of them.
NAMED = 3


@dataclass(frozen=True)
class Threshold:
    """value_ms > 0; source "slo", "pool", "target", "derived" (derived.py) or "none" (not known yet, LONGEST_MS);
    detail: the arithmetic in words; reasons: why it differs from the configuration; applies: decisions on it may be
    applied."""

    value_ms: float
    source: str
    detail: str
    reasons: tuple[Reason, ...] = ()
    applies: bool = True

    @property
    def is_known(self) -> bool:
        return self.source != "none"

    @property
    def value_ns(self) -> int:
        return round(self.value_ms * 1e6)


class UpstreamRequest(NamedTuple):
    """A pool, and the SLO whose traces show the time upstream of the pool."""

    pool: PoolKey
    slo: str


@dataclass(frozen=True)
class UpstreamTime:
    """The time in the services above a pool: the statistic that the configuration names, over so many traces.

    age_ms: the age of the value; 0 for a value of the newest reading.
    """

    value_ms: float
    traces: int
    age_ms: int = 0


def threshold_of(pool: Pool, slos: Sequence[Slo], upstream: Sequence[UpstreamTime | None] = ()) -> Threshold:
    """Worked: SLO checkout 250 ms, upstream 20 ms -> 230 ms, "slo checkout 250 ms - 20 ms upstream".

    `upstream`, one for each SLO, is for pools with a measured one; None: never known.

    A pool under several SLOs serves requests of all of them from the same slots, and its windows do not distinguish
    them: the strictest threshold holds for each. SLOs whose traces are not known to lead to the pool are left out; if
    all are, the strictest SLO itself holds. Where the configuration has no upstream times none is left out, since
    traces may not begin at the pool's service.
    Worked: checkout 250 ms less 100 ms, browse 120 ms less 20 ms -> 100 ms.
    """
    if not slos:
        if pool.threshold is None:
            raise ValueError(f"pool {pool.key} has neither an SLO nor a threshold")
        return Threshold(pool.threshold, "pool", f"set on the pool: {format_ms(pool.threshold)}")
    known = list(upstream) if pool.measured else [None] * len(slos)
    thresholds = [_under(pool, slo, time) for slo, time in zip(slos, known, strict=True)]
    leads = thresholds
    if pool.upstream is not None:
        leads = [one for one, time in zip(thresholds, known, strict=True) if time is not None] or thresholds
    strictest = min(leads, key=lambda one: one.value_ms)
    others = [one.detail for one in thresholds if one is not strictest]
    if others:
        return replace(strictest, detail=f"{strictest.detail}; strictest of it and {', '.join(others)}")
    return strictest


def target_threshold(slos_ms: Mapping[str, float]) -> Threshold | None:
    """The strictest SLO of those that a pool's targets declare, ms by instance; None without any. It is of the pool's
    own service, so it counts in full.

    Worked: a and b 200 ms, c 300 ms -> 200 ms, "slo 200 ms of targets a, b; strictest of it and 300 ms of target c".
    """
    if not slos_ms:
        return None
    strictest, *others = [
        f"{format_ms(slo)} of {_targets([name for name in sorted(slos_ms) if slos_ms[name] == slo])}"
        for slo in sorted(set(slos_ms.values()))
    ]
    detail = f"slo {strictest}"
    if others:
        detail += f"; strictest of it and {', '.join(others[:NAMED])}{_more(len(others))}"
    return Threshold(min(slos_ms.values()), "target", detail)


def _targets(names: Sequence[str]) -> str:
    return f"target{'s' * (len(names) > 1)} {', '.join(names[:NAMED])}{_more(len(names))}"


def _more(count: int) -> str:
    return f" and {count - NAMED} more" if count > NAMED else ""


def _under(pool: Pool, slo: Slo, upstream: UpstreamTime | None) -> Threshold:
    """The threshold under one SLO."""
    if pool.upstream is None and upstream is None:
        why = f"not less: no traces of {_root(slo)} lead to the pool" if pool.slo else "of the pool's own service"
        detail = f"slo {slo.name} {format_ms(slo.latency)}, {why}"
        return Threshold(slo.latency, "slo", detail)
    if pool.measured:
        return _measured(pool, slo, pool.measured, upstream)
    assert isinstance(pool.upstream, float)
    detail = f"slo {slo.name} {format_ms(slo.latency)} - {format_ms(pool.upstream)} upstream"
    return Threshold(slo.latency - pool.upstream, "slo", detail)


def _measured(pool: Pool, slo: Slo, upstream: Upstream, time: UpstreamTime | None) -> Threshold:
    """Worked, with the default floor of 10 %, an SLO of 250 ms and an upstream of

    31.4 ms: 218.6 ms;   240 ms: 25 ms, UPSTREAM_FLOOR, as for any more;   unknown: 250 ms, UPSTREAM_UNKNOWN.
    """
    whole = f"slo {slo.name} {format_ms(slo.latency)}"
    if time is None:
        text = f"no traces of {_root(slo)} lead to the pool: all of {whole} is taken as its own"
        return Threshold(slo.latency, "slo", f"{whole}, upstream unknown", (Reason("UPSTREAM_UNKNOWN", text),))
    reasons = []
    of = f"{upstream.statistic} of {time.traces:,} traces"
    if time.age_ms > 0:
        of += f", known {format_ms(time.age_ms / 1000).removesuffix(' ms')} s ago"
        reasons.append(Reason("UPSTREAM_LAST_KNOWN", f"too few traces of {_root(slo)} lead to the pool now: {of}"))
    detail = f"{whole} - {format_ms(round(time.value_ms, 3))} upstream ({of})"
    left, least = slo.latency - time.value_ms, upstream.floor * slo.latency
    if left < least:
        waits = f"waits for threads of {'services above it' if pool.side == 'server' else 'its service and above'}"
        text = f"upstream takes over {1 - upstream.floor:.0%} of {whole}; {waits} are in it"
        reasons.append(Reason("UPSTREAM_FLOOR", text))
        detail += f", at least {upstream.floor:.0%}: {format_ms(least)}"
    return Threshold(max(left, least), "slo", detail, tuple(reasons))


def _root(slo: Slo) -> str:
    return slo.service if slo.operation is None else f"{slo.service}/{slo.operation}"
