"""Carries the evidence along the wait for callees (waits.py)."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, log

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.evidence import Second
from sluice.pools.policy.parts import Part
from sluice.pools.policy.seconds import contradictions_of
from sluice.pools.policy.state import Change, Learnt
from sluice.pools.policy.waits import Stay, moved

# A wait that changes so soon after the size did may be an effect of that.
OURS_MS = 12_000
# An own time within this factor is the same one, and a throughput within that factor; in ln.
SAME, ALIKE = 0.1, 0.15


def carried(learnt: Learnt, part: Part, change: Change | None, slo_s: float) -> Learnt:
    """Carries the evidence to the time that requests wait for callees now (waits.py), where that contradicts it. Where
    they wait for longer than the SLO, no size helps."""
    second = part.second
    if second is None or isnan(part.wait_s) or part.wait_s >= slo_s:
        return learnt
    own_s = second.concurrency * second.seconds / second.completions - part.wait_s
    if own_s <= 0:
        return learnt  # calls in parallel, or of other work than the pool's requests
    ours = 0
    if change is not None and change.at_ms <= part.start_ms < change.at_ms + OURS_MS:
        ours = 1 if change.to_size > change.from_size else -1
    waits, by_s = moved(learnt.waits, Stay(part.wait_s, own_s, second.completions, second.seconds, ours))
    if (
        by_s == 0.0
        or not _same_own(learnt, second, own_s)
        or max(contradictions_of(learnt.kept, [(second, False)]), default=0.0) <= 0
    ):
        return changed(learnt, waits=waits)
    return changed(
        learnt,
        waits=waits._replace(carried_ms=part.start_ms),
        evidence=learnt.evidence.carried(by_s),
        doubt=replace(learnt.doubt, aside=tuple(second.carried(by_s) for second in learnt.doubt.aside)),
        versions=tuple((version, evidence.carried(by_s)) for version, evidence in learnt.versions),
        kept=None,
    )


def _same_own(learnt: Learnt, second: Second, own_s: float) -> bool:
    """Whether requests take as long by themselves as in the level of the nearest throughput, where the CPU is as busy.
    At another throughput, they may take less time than at a higher one, and more than at a lower one."""
    level = learnt.evidence.nearest(second)
    if level is None or learnt.waits is None:
        return False
    known_s = level.in_flight_s / level.completions - learnt.waits.evidence_s
    if known_s <= 0:
        return False
    off, busier = log(own_s / known_s), second.ln_rate - log(level.completions / level.seconds)
    return (off <= SAME or busier > ALIKE) and (off >= -SAME or busier < -ALIKE)
