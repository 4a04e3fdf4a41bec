"""Lessons for agents, their results, and the size that a pool's decision is made from. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.samples import Floats
from sluice.pools.inputs.scalings import Course
from sluice.pools.learned.agent import Opinion
from sluice.pools.learned.condition import Condition, DataSize
from sluice.pools.learned.measure import ServiceWindows, windows_of
from sluice.pools.learned.propose import propose
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Checkpoint, Facts
from sluice.pools.windows.rows import PoolWindow

# Known windows before the new ones, as a lead-in.
BEFORE_MS = 10_000
# Age above which an opinion does not count.
OLD_MS = 30_000
# Effective seconds from which on a size counts as known.
KNOWN_S = 60.0


class Lesson(NamedTuple):
    """windows: None without new ones. bounds: of the sizes. checkpoint: the journal's, None before the first.
    directory: of its file."""

    key: PoolKey
    windows: ServiceWindows | None
    slo_s: float
    condition: Condition
    bounds: tuple[int, int]
    checkpoint: Checkpoint | None
    directory: str
    now_ms: int


class Learned(NamedTuple):
    """checkpoint: the newest one, written or found. refused: why the journal's checkpoint was not used; "" where it
    was, or where there is none."""

    opinion: Opinion
    checkpoint: Checkpoint | None
    refused: str


def new_windows(
    measured: PoolWindow, sizes: Floats | None, course: Course, known: Learned | None
) -> ServiceWindows | None:
    """The windows since the agent's last lesson, with a lead-in, under the present condition; None without any.

    sizes: in force at each bucket's start, as `Sizes.limits` returns them. known: the result of the last lesson.
    """
    since_ms = max(
        known.opinion.until_ms - BEFORE_MS if known is not None else 0,
        course.since_ms if course.since_ms is not None else 0,
    )
    samples = measured.samples if sizes is None else replace(measured.samples, limit=sizes)
    windows = windows_of(samples, measured.bucket_start_ms, measured.bucket_ms)
    windows = windows.take(windows.start_ms >= since_ms)
    return windows if len(windows) else None


def condition_of(course: Course, data: DataSize) -> Condition:
    """The condition under which the pool's service runs now."""
    base = course.now
    return Condition(base.own.cores or 0.0, base.peer.cores or 0.0, base.version, data=data)


class AgentEstimate(NamedTuple):
    """An agent's proposal for its pool. estimate: None where the belief decides. reasons: for people, in any case."""

    learned: Learned | None
    estimate: Estimate | None
    reasons: tuple[Reason, ...]


def agent_estimate(
    learned: Learned | None, facts: Facts, current: int | None, may_look: bool, now_ms: int
) -> AgentEstimate:
    """The proposal of an agent. current: the size in force, None where targets differ or report none."""
    if learned is None or current is None or now_ms - learned.opinion.until_ms > OLD_MS:
        return AgentEstimate(
            learned,
            None,
            (Reason("NOT_LEARNT", "the agent has no current data, or targets differ: the belief decides"),),
        )
    refused = learned.refused
    refusal = (Reason("CHECKPOINT_REFUSED", f"{refused}: the agent began anew"),) if refused else ()
    change = facts.change
    in_charge = change is not None and change.basis is Basis.LEARNED and change.to_size == current
    proposal = propose(learned.opinion, current, in_charge, may_look)
    reason = Reason(proposal.code, proposal.why)
    if proposal.size is None:
        return AgentEstimate(learned, None, (*refusal, reason))
    worth, sizes = learned.opinion.worth, learned.opinion.sizes
    at = int(np.abs(sizes - proposal.size).argmin())
    estimate = Estimate(
        State.PROVIDED,
        (reason,),
        target=proposal.size,
        confidence=min(1.0, float(worth.seconds[at]) / KNOWN_S),
        learned=True,
    )
    return AgentEstimate(learned, estimate, refusal)
