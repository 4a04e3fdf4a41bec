"""The state of a pool between two periods, in two parts: facts, which change seldom, and evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sluice.model.demand import Demand
from sluice.model.states import State
from sluice.pools.estimate.belief.cache import CachedBelief
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Advice, Basis
from sluice.pools.policy.need import Peak
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.trust import Trust
from sluice.pools.policy.waits import Waits

# The state keeps the fullness of so many of the newest seconds.
RECENT = 5
# For so long after a change an actuator may step towards it from an earlier size.
STEPS_MS = 30_000


@dataclass(frozen=True)
class Change:
    """A decided change of the size.

    at_ms: the time of the decision; with waves (waves.py) of the newest wave. from_size: in force at that time.
    targets: the instances that have been given the change so far, () for all.
    """

    from_size: int
    to_size: int
    at_ms: int
    basis: Basis
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What reports and decisions changed. Facts are written when they change.

    now_ms    the newest time of a decision: it never falls
    current   the size in force, as last read; None when no target reports it, or targets differ
    change    the last decided change, None before the first
    baseline  the last size that was expected to lose less than 1 %: the size to hold when nothing is known
    state     the last state that came from the belief, None before the first
    trust     the operator's size, what sizes did, and refused sizes (trust.py)
    """

    now_ms: int = 0
    current: int | None = None
    change: Change | None = None
    baseline: int | None = None
    state: State | None = None
    trust: Trust = field(default_factory=Trust)

    @property
    def of_all(self) -> int | None:
        """The size for all targets: while only some targets have a change, the size before it."""
        change = self.change
        return change.from_size if change is not None and change.targets and self.pool == change.to_size else self.pool

    @property
    def pool(self) -> int | None:
        """The last decided size, which all targets have or will have; where somebody set another since, that one."""
        change = self.change
        if change is not None and (self.current in (change.from_size, change.to_size) or self.on_the_way(self.current)):
            return change.to_size
        return self.current

    def on_the_way(self, size: int | None) -> bool:
        """Whether an actuator that takes steps of its own may have written this size for the last change. Such a size
        lies between the decided one and the size before, or an earlier size of the pool. It is nearer to the decided
        one, as a ratio, than the size before.

        Worked, 126 to 16, where 6 was in force before: 63 and 32 do, and so does 12, a step of a factor 2 from 6.
        """
        change = self.change
        if change is None or size is None:
            return False
        previous, to = change.from_size, change.to_size
        if max(size, to) * min(previous, to) >= max(previous, to) * min(size, to):
            return False
        recent = self.now_ms - change.at_ms <= STEPS_MS
        starts = (previous, *(record.size for record in self.trust.measured if recent))
        return any(min(start, to) < size < max(start, to) for start in starts)


@dataclass(frozen=True)
class Standing:
    """The advice on the hardware, and how long there were grounds for it (advise.py).

    until_ms  of the newest demand that was judged, -1 before the first
    short, spare  readings in favour of SCALE_OUT and SCALE_IN, less those against
    cores, replicas  as reported then, 0 where nobody did; other hardware starts the count again
    advice  the last advice, None where there was none
    """

    until_ms: int = -1
    short: int = 0
    spare: int = 0
    cores: float = 0.0
    replicas: int = 0
    advice: Advice | None = None


class Shown(NamedTuple):
    """The largest part of the pool that spans had in use over one second. at_ms: its begin, Unix time."""

    part: float
    at_ms: int


NOTHING_SHOWN = Shown(0.0, -1)


@dataclass(frozen=True)
class Learnt:
    """The evidence, written once a minute with the position of the windows that it includes.

    until_ms   start of the newest bucket in it
    full       share of full buckets of each of the newest seconds, oldest first
    completed_ms  start of the newest bucket with a completion, None before the first
    remembered  whether the evidence is of a version that came back
    versions   evidence of other versions of the service, oldest first
    standing   the advice on the hardware
    peaks      the most completions per second, over 10 s, in each hour of the horizon, oldest first
    waits      how long requests wait for callees, None before the first second that shows it
    beats      completions of the newest half minute; they are neither compared nor written
    spans_full_ms  newest second that spans show as full, -1 before the first; not compared and not written, as `beats`
    shown      the most of the pool that spans had in use, where no actuator reports it, and metrics have coarse
               readings; as `beats`
    lag_ms     how late windows are at this step (learn.py); not compared and not written, as `beats`
    demand     the newest of the pool, None before the first; not compared and not written, as `beats`
    kept       the last belief, kept to save work; it is neither compared nor written
    wanted     the size that the pool holds for the best, None without one; not compared and not written
    proposed   the last target of a pool whose decisions nobody is to apply, None without one; as `wanted`
    """

    version: str = ""
    evidence: Evidence = field(default_factory=Evidence)
    doubt: Doubt = field(default_factory=Doubt)
    until_ms: int = -1
    full: tuple[float, ...] = ()
    completed_ms: int | None = None
    remembered: bool = False
    versions: tuple[tuple[str, Evidence], ...] = ()
    standing: Standing = field(default_factory=Standing)
    peaks: tuple[Peak, ...] = ()
    waits: Waits | None = None
    beats: tuple[Beat, ...] = field(default=(), compare=False, repr=False)
    spans_full_ms: int = field(default=-1, compare=False)
    shown: Shown = field(default=NOTHING_SHOWN, compare=False)
    lag_ms: int = field(default=0, compare=False)
    demand: Demand | None = field(default=None, compare=False, repr=False)
    kept: CachedBelief | None = field(default=None, compare=False, repr=False)
    wanted: int | None = field(default=None, compare=False)
    proposed: Change | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scaled:
    """Evidence of a sample (scaled.py). kept: the share of the traces that the sampler kept when it began."""

    kept: float
    learnt: Learnt


@dataclass(frozen=True)
class PoolState:
    """Both parts of the state of a pool, and the evidence of a sample, which is neither compared nor written."""

    facts: Facts = field(default_factory=Facts)
    learnt: Learnt = field(default_factory=Learnt)
    scaled: Scaled | None = field(default=None, compare=False, repr=False)
