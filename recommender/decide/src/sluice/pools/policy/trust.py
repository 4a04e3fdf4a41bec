"""What the guard (`harm.py`) knows of a pool: the operator's size, the pace of sizes, and the refused ones. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.pools.policy.pace import LASTS_S, Beat, after_a_stay, pace_over, visit

# A size must be seen for this long to be judged, s. Expected completions from which on their absence means something.
SEEN_S, EXPECTED = 3.0, 10.0
# How long a size is refused, and the operator's held: at first, and at most.
REFUSED_MS, GIVEN_UP_MS, LONGEST_MS = 600_000, 600_000, 86_400_000
# How many measured and how many refused sizes are kept.
MOST_MEASURED, MOST_REFUSED = 8, 8


@dataclass(frozen=True)
class SizeRecord:
    """The pace of a size when it was left, as in `Pace`. lag_ms: the delay of windows at that time."""

    size: int
    per_s: float
    stay_s: float
    failed: float
    cores: float
    lag_ms: int = 0


@dataclass(frozen=True)
class RefusedSize:
    """A size that did harm. It, and all beyond it as seen from `from_size`, are not chosen before `until_ms`."""

    size: int
    from_size: int
    until_ms: int
    times: int = 1

    def holds(self, size: int) -> bool:
        """Whether the refusal covers a size."""
        return size <= self.size if self.size < self.from_size else size >= self.size


@dataclass(frozen=True)
class OperatorLook:
    """A look at the operator's size. per_s: completions at the size that was left."""

    at_ms: int
    per_s: float


@dataclass(frozen=True)
class Trust:
    """The guard's knowledge of a pool.

    operator: the operator's size. since_ms: when the size in force was first read. measured: oldest first.
    demand_per_s: the demand that a look showed; it counts until `demand_until_ms`. given_up_ms: until when the
    operator's size is held; times: how often, of late.
    """

    operator: int | None = None
    since_ms: int = 0
    measured: tuple[SizeRecord, ...] = ()
    refused: tuple[RefusedSize, ...] = ()
    check: OperatorLook | None = None
    demand_per_s: float = 0.0
    demand_until_ms: int = 0
    given_up_ms: int = 0
    times: int = 0

    def at(self, size: int, cores: float) -> SizeRecord | None:
        """The record of a size on this CPU limit; None where it was not measured."""
        return next((record for record in self.measured if record.size == size and record.cores == cores), None)

    def refuses(self, size: int, now_ms: int) -> bool:
        """Whether a size is refused at `now_ms`."""
        return any(refusal.holds(size) for refusal in self.refused if now_ms < refusal.until_ms)


def refusing(trust: Trust, size: int, from_size: int, lasts_ms: int, now_ms: int) -> Trust:
    """Refuses a size, twice as long each time that the same one is refused within a day."""
    refusal_before = next(
        (refusal for refusal in trust.refused if refusal.size == size and refusal.from_size == from_size), None
    )
    times = 1 if refusal_before is None or now_ms - refusal_before.until_ms > LONGEST_MS else refusal_before.times + 1
    until_ms = now_ms + min(lasts_ms * 2 ** (times - 1), LONGEST_MS)
    others = tuple(refusal for refusal in trust.refused if refusal is not refusal_before)
    return replace(trust, refused=(*others, RefusedSize(size, from_size, until_ms, times))[-MOST_REFUSED:])


def last_of_ours(trust: Trust) -> int | None:
    """The last measured size that Sluice set, None without one."""
    return next((record.size for record in reversed(trust.measured) if record.size != trust.operator), None)


def giving_up(trust: Trust, now_ms: int) -> Trust:
    """Holds the operator's size, twice as long each time within a day of the last one."""
    times = 1 if now_ms - trust.given_up_ms > LONGEST_MS else trust.times + 1
    until_ms = now_ms + min(GIVEN_UP_MS * 2 ** (times - 1), LONGEST_MS)
    return replace(trust, check=None, given_up_ms=until_ms, times=times)


def in_force(trust: Trust, current: int | None, last: int | None, foreign: bool, now_ms: int) -> Trust:
    """Takes in the size in force as read: a size that somebody else set becomes the operator's. last: the
    one read before."""
    if current is None:
        return trust
    if trust.operator is None or foreign:
        return Trust(operator=current, since_ms=now_ms, measured=trust.measured)
    return trust if current == last else replace(trust, since_ms=now_ms)


def left(trust: Trust, size: int, beats: tuple[Beat, ...], cores: float, lag_ms: int) -> Trust:
    """Records the pace of a size that is left now. With too many records, drops the oldest that is not of the
    operator's size.

    A size of ours that was seen for under 3 s has no record, so the next change is judged by the operator's size:
    windows that are 5 s old show one second of 13 when 14 follows, and errors at 14 would count as usual. A second of
    the operator's size in which all requests failed leaves its record as it was: nothing could be compared with it.

    The first stay of a request at the size does not count: what completes then began among fewer in flight.
    """
    seen = visit(beats, size)
    does = pace_over(after_a_stay(seen))
    if does is None or does.completions <= 0:
        return trust
    tells_nothing = trust.at(size, cores) is not None and does.per_s * LASTS_S < EXPECTED
    if (size != trust.operator or tells_nothing) and sum(beat.length_s for beat in seen) < SEEN_S:
        return trust
    of = SizeRecord(size, does.per_s, does.stay_s, does.failed, cores, lag_ms)
    others = [record for record in trust.measured if (record.size, record.cores) != (size, cores)]
    while len(others) >= MOST_MEASURED:
        others.remove(next((record for record in others if record.size != trust.operator), others[0]))
    return replace(trust, measured=(*others, of))
