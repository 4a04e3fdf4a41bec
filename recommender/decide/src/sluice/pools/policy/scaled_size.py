"""Names the best size of a pool by a sample, beside a decision that holds."""

from __future__ import annotations

from dataclasses import replace

from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.case import never_full
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import bounds
from sluice.pools.policy.scaled import LEAST_KEPT, scalable, scaled
from sluice.pools.policy.state import Scaled
from sluice.pools.policy.sufficiency import judged
from sluice.pools.policy.view import KNOWN, STARTS_S, View
from sluice.pools.policy.worth import Outlook, prospects

# A best size is not known that is smaller than the next full pool in the evidence by more than this factor: the service
# may fall off an edge anywhere between, and nobody tries a size there. (10 % of a service with a cliff at 13, seen not
# full up to 8, and full at 26: it named 8 within 1 %.)
GAP = 2.5
NEVER_FULL = "the pool was never full"
FEW_KEPT = f"fewer than one request in {round(1 / LEAST_KEPT)} is kept, so the load moves before enough are seen"
UNKNOWN_CHANCE = "nothing shows that all traces had one known chance to be kept"
NO_SIZE = "no one size is in force on all targets"
LITTLE_KEPT = "the kept requests do not show it within 2 % yet"


def judged_scaled(last: Scaled | None, observation: Observation) -> Scaled | None:
    """The evidence of the sample, with its belief; None where there is no sample that can be scaled."""
    evidence = scaled(last, observation)
    return evidence and Scaled(evidence.kept, judged(evidence.learnt, observation))


def named_by_sample(decision: Decision, evidence: Scaled | None, observation: Observation) -> Decision:
    """The same decision with the best size by the kept requests (SCALED), or why that is not known (NOT_SCALED)."""
    outlook, why = outlook_of(evidence, observation)
    if outlook is None or evidence is None:
        reason = ("NOT_SCALED", f"the best size is not known: {why}")
        return replace(decision, reasons=(*decision.reasons, reason))
    kept = f"{100 * evidence.kept:.3g}"
    reason = ("SCALED", f"the best size is that of the kept {kept} % of the requests, scaled. It is not applied")
    return replace(
        decision,
        lower=outlook.lower,
        upper=outlook.upper,
        unguarded=outlook.best,
        loss=outlook.loss,
        confidence=outlook.sure,
        reasons=(*decision.reasons, reason),
    )


def outlook_of(evidence: Scaled | None, observation: Observation) -> tuple[Outlook | None, str]:
    """The outlook where a pool whose spans are all there would be PROVIDED; else None and the cause, for people."""
    sampling, constraints, current = observation.sampling, observation.constraints, observation.size
    if not scalable(sampling):
        return None, FEW_KEPT if sampling is not None and sampling.uniform else UNKNOWN_CHANCE
    if current is None:
        return None, NO_SIZE
    if constraints.callee:
        return None, "requests wait for a callee"
    if evidence is None or evidence.learnt.kept is None:
        return None, LITTLE_KEPT
    learnt, legal = evidence.learnt, bounds(constraints)
    outlook = prospects(evidence.learnt.kept.now, current, legal, observation.slo_s, legal).outlook
    if never_full(learnt, observation, View(current, None, outlook, None)):
        return None, NEVER_FULL
    above = _full_above(outlook.best, current, learnt.evidence, observation.cores)
    if above > GAP * outlook.best:
        between = f"{outlook.best} and {above:.0f}"
        return None, f"no full pool between {between} was seen; {above / 2:.0f} in force shows more"
    known = outlook.at_best < KNOWN and learnt.evidence.weight(observation.cores) >= STARTS_S
    return (outlook, "") if known else (None, LITTLE_KEPT)


def _full_above(size: int, current: int, evidence: Evidence, cores: float) -> float:
    """The least concurrency of a full pool on these cores, from the size on; the size in force where there is none."""
    full = [level.in_flight_s / level.seconds for level in evidence.levels if level.full and level.cores == cores]
    return min((n for n in full if n >= size), default=float(current))
