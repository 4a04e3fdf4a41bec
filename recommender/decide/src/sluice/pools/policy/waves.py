"""Waves: in a pool with several targets one target gets a change first, then a few, then all. Pure.

Waves apply to a change by the curve and to a look. All targets at once get a size that is in force elsewhere, one that
was good a moment ago, and each change of a pool with one target. Between two waves the wait is that between any two
changes (case.py). While only some targets have a change, spans show the completions of each size. A change that is
worse on the first targets ends there.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from sluice.fast.worth import LEAST_GAIN, SURE_BY
from sluice.pools.policy.allowed import OF_SIZE
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.pace import Beat, pace_of
from sluice.pools.policy.state import Change, Facts
from sluice.pools.policy.trial import COLLAPSED_TO, GAIN
from sluice.pools.policy.trust import EXPECTED
from sluice.pools.policy.worth import Prospects

# The bases of changes that come in waves.
CAUTIOUS = (Basis.CURVE, Basis.PROBE)
# Seconds of each size that a comparison needs.
WAVE_S = 3.0
# The second wave is a quarter of all targets, and at least two.
A_FEW, FEWEST = 4, 2


def first_wave(basis: Basis, instances: Iterable[str]) -> tuple[str, ...]:
    """The instances of the first wave; () is all."""
    ordered = sorted(instances)
    return tuple(ordered[:1]) if basis in CAUTIOUS and len(ordered) > 1 else ()


def next_wave(given: tuple[str, ...], instances: Iterable[str]) -> tuple[str, ...]:
    """The instances of the next wave, after the evidence of the one before; () is all.

    Worked: of 3 targets 1, 2, all; of 20: 1, 5, all; of 2: 1, all.
    """
    ordered = sorted(instances)
    few = max(FEWEST, -(-len(ordered) // A_FEW))
    if len(given) >= few or few >= len(ordered):
        return ()
    kept = [instance for instance in ordered if instance in given]
    return tuple(sorted(kept + [instance for instance in ordered if instance not in given][: few - len(kept)]))


def under_way(facts: Facts, observation: Observation) -> Change | None:
    """The change that only some targets have so far; None where there is none.

    None also where sizes are not as the change leaves them: something else changed them, and all get one size again.
    The same holds in quiet hours, and where one of the two sizes is no longer legal.
    """
    change, bound = facts.change, observation.constraints
    if change is None or not change.targets or bound.quiet:
        return None
    if not all(bound.least <= size <= bound.most for size in (change.from_size, change.to_size)):
        return None
    others = {size for instance, size in observation.sizes.items() if instance not in change.targets}
    both = {change.from_size, change.to_size}
    return change if set(observation.sizes.values()) == both and others == {change.from_size} else None


def still_for(change: Change, basis: Basis, instances: Iterable[str]) -> tuple[str, ...]:
    """The instances for a change that is requested once more: those that had it before and are still there."""
    there = [instance for instance in sorted(instances) if instance in change.targets]
    return tuple(there) if there or not change.targets else first_wave(basis, instances)


def came(change: Change, observation: Observation) -> bool:
    """Whether the change was read back from the instances that were given it. An instance that is gone
    does not count."""
    given = [size for instance, size in observation.sizes.items() if instance in change.targets]
    return bool(given) and set(given) == {change.to_size}


def completes_less(change: Change, beats: tuple[Beat, ...]) -> bool:
    """Whether targets with the new size complete less than half of the others' completions in the same seconds. Where
    the others are not full, and hold more than the new size does: less than 0.95 of them, by two standard errors.

    Worked, 6 s of each: 40 a second without errors at 32, 15 at 16: less. 95 a second at 64 with 48 in flight, 64 at
    32: 384 in all, under 0.95 x 570 - 2 sqrt(0.95 x 570) = 495, so less.
    """
    since_s = change.at_ms / 1_000
    of, others = pace_of(beats, change.to_size, since_s), pace_of(beats, change.from_size, since_s)
    if of is None or others is None or min(of.seconds, others.seconds) < WAVE_S:
        return False
    if others.per_s * others.seconds < EXPECTED:
        return False
    if change.to_size < others.in_flight < OF_SIZE * change.from_size:
        due = GAIN * others.per_s * of.seconds
        return of.per_s * of.seconds < due - 2 * sqrt(due)
    return of.per_s < COLLAPSED_TO * others.per_s


def worse(change: Change, of: Prospects) -> bool:
    """Whether the change's new size is known to be worse than the old one, by the measure of `choose`, or is out of
    reach now. of: the prospects from the old size."""
    at = (of.sizes == change.to_size).nonzero()[0]
    if not len(at):
        return True
    gain, deviation = float(of.mean[at[0]]), float(of.variance[at[0]]) ** 0.5
    return gain < -LEAST_GAIN and gain < -SURE_BY * deviation
