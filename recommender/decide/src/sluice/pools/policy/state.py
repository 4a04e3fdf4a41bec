"""All that is known of a pool between two periods, in two parts: what changes seldom, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.model.demand import Demand
from sluice.model.states import State
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.estimate.belief.kept import Kept
from sluice.pools.policy.decision import Advice, Basis
from sluice.pools.policy.harm import Trust
from sluice.pools.policy.need import Peak
from sluice.pools.policy.pace import Beat

# Fullness of so many newest seconds is kept.
RECENT = 5
# So long after a change an actuator may step towards it from a size of earlier.
STEPS_MS = 30_000


@dataclass(frozen=True)
class Change:
    """A size that was decided. at_ms: when, and of one that comes in waves (waves.py) the newest of them; from_size: in
    force then; targets: the instances that it was given to so far, () where that is all of them."""

    from_size: int
    to_size: int
    at_ms: int
    basis: Basis
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """Of a pool's agent (`pools.learn`): a file by its name, its SHA-256 in hex, its format, the gradient steps that it
    was trained with, and when it was written."""

    name: str
    sha256: str
    version: int
    steps: int
    at_ms: int


@dataclass(frozen=True)
class Facts:
    """What reports and decisions changed: written when it changes.

    now_ms    the newest time that a decision was made for: it never falls
    current   the size in force, as last read; None when nobody tells, or targets differ
    change    the last one decided, None before the first
    baseline  the last size that was expected to lose less than 1 %: what to hold when nothing is known
    state  what was last said of the pool by its curve, None before the first
    trust  the operator's size, what sizes did, and what is taken back (harm.py)
    checkpoint  the newest of the pool's agent, None where it has none
    """

    now_ms: int = 0
    current: int | None = None
    change: Change | None = None
    baseline: int | None = None
    state: State | None = None
    checkpoint: Checkpoint | None = None
    trust: Trust = field(default_factory=Trust)

    @property
    def of_all(self) -> int | None:
        """The size that no target is without for long: of a change that some have, the one before it."""
        change = self.change
        return change.from_size if change is not None and change.targets and self.pool == change.to_size else self.pool

    @property
    def pool(self) -> int | None:
        """The last decided size, unless another was set since: what all targets have or come to have."""
        change = self.change
        if change is not None and (self.current in (change.from_size, change.to_size) or self.on_the_way(self.current)):
            return change.to_size
        return self.current

    def on_the_way(self, size: int | None) -> bool:
        """Whether an actuator that takes steps of its own may have written it for the last change: it lies between the
        size before, or one that was in force here earlier, and what was decided.

        Worked, 126 to 16, where 6 was in force before: 63 and 32 do, and so does 12, a step of a factor 2 from 6.
        """
        change = self.change
        if change is None or size is None:
            return False
        recent = self.now_ms - change.at_ms <= STEPS_MS
        starts = (change.from_size, *(each.size for each in self.trust.measured if recent))
        return any(min(start, change.to_size) < size < max(start, change.to_size) for start in starts)


@dataclass(frozen=True)
class Standing:
    """What is said of the hardware, and how long there was ground for it (advise.py).

    until_ms  of the newest demand that was judged, -1 before the first
    short, spare  readings that speak for SCALE_OUT and SCALE_IN, less those against
    cores, replicas  as told then, 0 where nobody did: on others it begins anew
    advice  what was said last, None where there was nothing to say
    """

    until_ms: int = -1
    short: int = 0
    spare: int = 0
    cores: float = 0.0
    replicas: int = 0
    advice: Advice | None = None


@dataclass(frozen=True)
class Learnt:
    """The evidence: written once a minute, with the position of the windows that it goes up to.

    until_ms   start of the newest bucket in it
    full       share of full buckets of each of the newest seconds, oldest first
    completed_ms  start of the newest bucket in which something completed, None before the first
    versions   what was seen of other versions of the service, oldest first
    standing   what is said of the hardware
    peaks      the most that completed a second, over 10 s, in each hour of the remembered horizon, oldest first
    beats      completions of the newest half minute; they are neither compared nor written
    demand     the newest of the pool, None before the first; as `beats`
    kept       the belief that was made last: it saves work, and is neither compared nor written
    wanted     the size that it has for the best, None without one; as `kept`
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
    beats: tuple[Beat, ...] = field(default=(), compare=False, repr=False)
    demand: Demand | None = field(default=None, compare=False, repr=False)
    kept: Kept | None = field(default=None, compare=False, repr=False)
    wanted: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class PoolState:
    facts: Facts = field(default_factory=Facts)
    learnt: Learnt = field(default_factory=Learnt)
