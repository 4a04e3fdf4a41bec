"""The callers of an application: which follow their subsets, and where the calls of the others go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sluice.model.keys import SubsetKey
from sluice.subsets.adoption import AdoptionVerdict, differs, verdict
from sluice.subsets.fixed import FixedFlows
from sluice.subsets.fleet import Floats
from sluice.subsets.observed import ObservedCalls
from sluice.subsets.trial import SETTLE_S
from sluice.subsets.v1 import subset_pb2


@dataclass(frozen=True)
class PlanInForce:
    """A published subset. revision: of its endpoints and weights. shares: of calls, by instance; they add up to 1."""

    revision: int
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Adoption:
    """verdicts: of each caller with a subset. fixed: of those that do not follow. since: the revision of each plan, and
    the Unix time in s at which it was first seen."""

    verdicts: Mapping[SubsetKey, AdoptionVerdict] = field(default_factory=dict)
    fixed: FixedFlows = field(default_factory=dict)
    since: Mapping[SubsetKey, tuple[int, float]] = field(default_factory=dict)


Live = Mapping[str, frozenset[str]]
"""By service, the containers that even routing would call."""


def plans(published: Mapping[SubsetKey, subset_pb2.Subset]) -> dict[SubsetKey, PlanInForce]:
    """The published subsets that have endpoints."""
    there = {}
    for key, subset in published.items():
        total = sum(end.weight for end in subset.endpoints)
        if subset.state != subset_pb2.STATE_DELETED and total > 0:
            there[key] = PlanInForce(subset.revision, {end.instance: end.weight / total for end in subset.endpoints})
    return there


def judged(
    last: Adoption, there: Mapping[SubsetKey, PlanInForce], calls: Iterable[ObservedCalls], live: Live, now_s: float
) -> Adoption:
    """The adoption as of the newest calls.

    Calls count for a plan from SETTLE_S after it was first seen: it needs time to arrive, and requests on the way end.
    A verdict stays until later calls contradict it, also under another plan: a caller that follows one subset follows
    the next. Without any verdict a caller is UNKNOWN, and counts as one that follows.
    """
    since = {key: _since(last, key, plan, now_s) for key, plan in there.items()}
    counts: dict[SubsetKey, dict[str, int]] = {}
    for of in calls:
        key = SubsetKey(of.upstream, of.instance, of.downstream)
        if key in there and of.start_s >= since[key][1] + SETTLE_S:
            to = counts.setdefault(key, {})
            to[of.container] = to.get(of.container, 0) + of.calls
    names = {service: sorted(instances) for service, instances in live.items()}
    verdicts, fixed = {}, {}
    for key, plan in there.items():
        below = names.get(key.downstream, [])
        seen = _array(below, counts.get(key, {}))
        found = _verdict(below, plan, seen)
        if found is AdoptionVerdict.UNKNOWN:
            found = last.verdicts.get(key, AdoptionVerdict.UNKNOWN)
        verdicts[key] = found
        if found is AdoptionVerdict.NOT_FOLLOWING:
            fixed[key] = _flow(below, seen, last.fixed.get(key))
    return Adoption(verdicts, last.fixed if fixed == last.fixed else fixed, since)


def _since(last: Adoption, key: SubsetKey, plan: PlanInForce, now_s: float) -> tuple[int, float]:
    known = last.since.get(key)
    return known if known is not None and known[0] == plan.revision else (plan.revision, now_s)


def _array(names: list[str], by_name: Mapping[str, float]) -> Floats:
    return np.array([by_name.get(name, 0.0) for name in names]) if by_name else np.zeros(len(names))


def _verdict(names: list[str], plan: PlanInForce, seen: Floats) -> AdoptionVerdict:
    if not seen.any():
        return AdoptionVerdict.UNKNOWN
    shares = _array(names, plan.shares)
    return AdoptionVerdict.UNKNOWN if shares.sum() <= 0 else verdict(shares / shares.sum(), seen)


def _flow(names: list[str], seen: Floats, last: Mapping[str, float] | None) -> Mapping[str, float] | None:
    """The shares of a caller's calls; None: even. Those of before, or even ones, stay where Poisson counts explain the
    difference."""
    even = np.full(len(names), 1 / max(len(names), 1))
    if not differs(seen, even if last is None else _array(names, last)):
        return last
    if not differs(seen, even):
        return None
    return dict(zip(names, (seen / seen.sum()).tolist(), strict=True))
