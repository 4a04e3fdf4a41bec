"""How far the clocks of instances are off, by when their spans come into the log: pure.

A span comes after it ended: what it takes at least (least delay) is what the way takes, less what the instance's clock
is ahead of the broker's. Two things are then known. A delay below 0 is a clock that is ahead, whatever the way takes. A
large one is a clock that is behind, or one whose exporter keeps spans for a while: SDKs send batches every 5 s. Only
what no exporter explains counts as behind.

All are measured by the broker's clock, which is taken to be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

SQL = files(__package__).joinpath("delays.sql").read_text(encoding="utf-8")

# Of the log's time. recent: what is usual is a median of six windows of 10 s, so that neither a window that has just
# begun nor one odd span says it. lasts: how long an exporter that is slow now and then is waited for.
RECENT_S, LASTS_S = 60, 120
# Behind the decider's clock, which may be off itself, and behind a job that lags.
LOOKS_BACK_MS = 600_000
# Windows without which nothing is said: of 30 s, and to be behind, of a minute.
FEWEST, FEWEST_BEHIND = 3, 6
# OTEL_BSP_SCHEDULE_DELAY is 5 s by default; 1 s for the way.
LONGEST_BATCH_MS = 6_000
# Where all come so late the way is slow, or makes good for the time that it stood still: clocks do not show then.
SLOW_WAY_MS = 2_000
# Less is no more than what NTP leaves over the internet, and two of the usual buckets.
NEGLIGIBLE_MS = 200
# A correction stays until it is off by more than a bucket, of 100 ms at least, in so many readings in turn.
STEP_MS, READINGS = 100, 3
# Readings (of 10 s) without a span after which an instance is forgotten: ten minutes.
GONE = 60


class Instance(NamedTuple):
    """Whose clock it is."""

    service: str
    instance: str

    def __str__(self) -> str:
        return f"{self.service} {self.instance}"


class Seen(NamedTuple):
    """Of one instance, ms. usual: the median over windows of a minute of the least delay; least: over two minutes;
    recent, windows: so many of each."""

    usual_ms: int
    recent: int
    least_ms: int
    windows: int


def parameters(now_ms: int) -> dict[str, object]:
    """Of `SQL`."""
    return {"from_ms": now_ms - LOOKS_BACK_MS, "recent_s": RECENT_S, "lasts_s": LASTS_S}


def seen_of(columns: list[list[Any]]) -> dict[Instance, Seen]:
    """From the query's columns."""
    return {
        Instance(service, instance): Seen(*map(int, numbers))
        for service, instance, *numbers in zip(*columns, strict=True)
    }


def fastest_ms(seen: Iterable[Seen]) -> int | None:
    """What the way takes at least: the least usual delay of those whose clocks are not ahead for sure."""
    return min((each.usual_ms for each in seen if each.recent >= FEWEST and each.usual_ms >= 0), default=None)


def offset_ms(seen: Seen, way_ms: int) -> int | None:
    """How far a clock is ahead, below 0 behind; 0 for one that is as good as right; None where too little is known.

    way_ms: what the way takes at least. Worked, with 200 ms: spans that come 800 ms before they end are of a clock that
    is 1,000 ms ahead; 8 s late at least is 1.8 s behind, since 6 s may be an exporter's; 3 s late is nothing.
    """
    if seen.recent < FEWEST:
        return None
    if seen.usual_ms < 0:
        found = way_ms - seen.usual_ms
    elif seen.windows >= FEWEST_BEHIND:
        found = min(0, LONGEST_BATCH_MS + way_ms - seen.least_ms)
    else:
        return None
    return found if abs(found) > NEGLIGIBLE_MS else 0


class Clocks:
    """What is taken out, from reading to reading. Stands still while the way is slow."""

    def __init__(self) -> None:
        self._held: dict[Instance, int] = {}
        self._apart: dict[Instance, int] = {}
        self._away: dict[Instance, int] = {}

    @property
    def offsets_ms(self) -> Mapping[Instance, int]:
        """Of the instances whose clocks are off."""
        return {instance: ms for instance, ms in self._held.items() if ms}

    def take(self, seen: Mapping[Instance, Seen], bucket_ms: int) -> None:
        """A reading, of every ten seconds."""
        for instance in [*self._held]:
            self._away[instance] = 0 if instance in seen else self._away.get(instance, 0) + 1
            if self._away[instance] > GONE:
                self._forget(instance)
        way_ms = fastest_ms(seen.values())
        if way_ms is not None and way_ms > SLOW_WAY_MS:
            return
        for instance, each in seen.items():
            found = offset_ms(each, way_ms or 0)
            if found is not None:
                self._compare(instance, found, max(bucket_ms, STEP_MS))

    def _compare(self, instance: Instance, found_ms: int, step_ms: int) -> None:
        held = self._held.setdefault(instance, found_ms)
        apart = abs(found_ms - held) > step_ms
        self._apart[instance] = self._apart.get(instance, 0) + 1 if apart else 0
        if self._apart[instance] >= READINGS:
            self._held[instance], self._apart[instance] = found_ms, 0

    def _forget(self, instance: Instance) -> None:
        for known in (self._held, self._apart, self._away):
            known.pop(instance, None)
