"""Waves: a change of a pool with several targets comes to one of them first, then to a few, then to all.

So for what is chosen by the curve or for a look; a size that is in force elsewhere already, or was good a moment ago,
comes to all at once, and so does each change of a pool with one target. Between two waves is what lies between any two
changes (case.py). While a change is on some targets alone, spans tell what each size does; a change that turns out
worse there ends, and nobody else sees it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from sluice.pools.policy.compiled_worth import LEAST_GAIN, SURE_BY
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.harm import COLLAPSED_TO, EXPECTED
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.pace import Beat, pace_of
from sluice.pools.policy.state import Change, Facts
from sluice.pools.policy.worth import Prospects

# What a change stands on that comes in waves.
CAUTIOUS = (Basis.CURVE, Basis.PROBE)
# Seconds of each size that are compared.
WAVE_S = 3.0
# A few: a quarter of all, and two at least.
A_FEW, FEWEST = 4, 2


def first_wave(basis: Basis, instances: Iterable[str]) -> tuple[str, ...]:
    """Those that a change is for; () is all."""
    ordered = sorted(instances)
    return tuple(ordered[:1]) if basis in CAUTIOUS and len(ordered) > 1 else ()


def next_wave(given: tuple[str, ...], instances: Iterable[str]) -> tuple[str, ...]:
    """After a change was seen on those it was given to; () is all.

    Worked: of 3 targets 1, 2, all; of 20: 1, 5, all; of 2: 1, all.
    """
    ordered = sorted(instances)
    few = max(FEWEST, -(-len(ordered) // A_FEW))
    if len(given) >= few or few >= len(ordered):
        return ()
    kept = [each for each in ordered if each in given]
    return tuple(sorted(kept + [each for each in ordered if each not in given][: few - len(kept)]))


def under_way(facts: Facts, seen: Observation) -> Change | None:
    """The change that some targets have and the others are not to have yet; None where there is none, or where sizes
    are not as it leaves them: then something else has changed them, and all get one size again. So they do in quiet
    hours, and where one of the two is not legal any more.
    """
    change, bound = facts.change, seen.constraints
    if change is None or not change.targets or bound.quiet:
        return None
    if not all(bound.least <= size <= bound.most for size in (change.from_size, change.to_size)):
        return None
    others = {size for instance, size in seen.sizes.items() if instance not in change.targets}
    both = {change.from_size, change.to_size}
    return change if set(seen.sizes.values()) == both and others == {change.from_size} else None


def still_for(change: Change, basis: Basis, instances: Iterable[str]) -> tuple[str, ...]:
    """The same change asked for once more: those that it was given to, as far as they are there."""
    there = [each for each in sorted(instances) if each in change.targets]
    return tuple(there) if there or not change.targets else first_wave(basis, instances)


def came(change: Change, seen: Observation) -> bool:
    """Whether the change was read back from those that it was given to. One that is gone is not waited for."""
    given = [size for instance, size in seen.sizes.items() if instance in change.targets]
    return bool(given) and set(given) == {change.to_size}


def completes_less(change: Change, beats: tuple[Beat, ...]) -> bool:
    """Whether, of the same seconds, targets with the new size complete less than half of what the others do.

    Worked, 6 s of each: 40 a second without errors at 32, 15 at 16: less.
    """
    since_s = change.at_ms / 1_000
    of, others = pace_of(beats, change.to_size, since_s), pace_of(beats, change.from_size, since_s)
    if of is None or others is None or min(of.seconds, others.seconds) < WAVE_S:
        return False
    return others.per_s * others.seconds >= EXPECTED and of.per_s < COLLAPSED_TO * others.per_s


def worse(change: Change, of: Prospects) -> bool:
    """Whether what the change leads to is known to be worse than what the other targets have, as `choose` would have
    it, or is out of reach by now. of: seen from the size that it leads away from."""
    at = (of.sizes == change.to_size).nonzero()[0]
    if not len(at):
        return True
    gain, deviation = float(of.mean[at[0]]), float(of.variance[at[0]]) ** 0.5
    return gain < -LEAST_GAIN and gain < -SURE_BY * deviation
