"""Clock offsets of instances, estimated from the arrival times of their spans: pure.

A span arrives after it ended. Its least delay is the transport time less the offset of the instance's clock from the
broker's. Two facts follow. A delay below 0 is a clock that is ahead, whatever the transport takes. A large one is a
clock that is behind, or an exporter that keeps spans for a while: SDKs send batches every 5 s. Only the part that no
exporter explains counts as behind.

The broker's clock is the reference. Where most of many clocks are ahead of it, it is itself behind, and the median of
them is its offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

SQL = files(__package__).joinpath("delays.sql").read_text(encoding="utf-8")

# In the broker's time. RECENT_S: the usual delay is a median of six windows of 10 s, so that neither a window that has
# just begun nor one odd span decides it. LASTS_S: how long an exporter that is slow now and then may take.
RECENT_S, LASTS_S = 60, 120
# How far the query looks back from the decider's clock, which may be off itself, and for a job that lags.
LOOKS_BACK_MS = 600_000
# The fewest windows for an offset: of 30 s, and for a clock that is behind, of a minute.
FEWEST, FEWEST_BEHIND = 3, 6
# OTEL_BSP_SCHEDULE_DELAY is 5 s by default; 1 s for the way.
LONGEST_BATCH_MS = 6_000
# Where the spans of all arrive this late, the transport is slow, or catches up after it stood still: delays then show
# no offsets.
SLOW_WAY_MS = 2_000
# Smaller offsets are within NTP's error over the internet, and within two of the usual buckets.
NEGLIGIBLE_MS = 200
# A correction stays until it is wrong by more than a bucket, of 100 ms at least, in so many readings in a row.
STEP_MS, READINGS = 100, 3
# From so many instances on, more than half of which are ahead, the broker's clock is off.
MANY = 5
# At most so many are corrected, those that were known first, since each query carries them.
MOST = 1_000
# Readings (of 10 s) without a span after which an instance is forgotten: ten minutes.
GONE = 60


class Instance(NamedTuple):
    """The instance that a clock belongs to."""

    service: str
    instance: str

    def __str__(self) -> str:
        return f"{self.service} {self.instance}"


class InstanceDelay(NamedTuple):
    """Delays of one instance, ms. usual: the median over windows of a minute of the least delay; least: over two
    minutes; recent, windows: the number of windows in each."""

    usual_ms: int
    recent: int
    least_ms: int
    windows: int


def parameters(now_ms: int) -> dict[str, object]:
    """The parameters of `SQL`."""
    return {"from_ms": now_ms - LOOKS_BACK_MS, "recent_s": RECENT_S, "lasts_s": LASTS_S}


def delays_of(columns: list[list[Any]]) -> dict[Instance, InstanceDelay]:
    """From the query's columns."""
    return {
        Instance(service, instance): InstanceDelay(*map(int, numbers))
        for service, instance, *numbers in zip(*columns, strict=True)
    }


def fastest_ms(delays: Iterable[InstanceDelay]) -> int:
    """The least transport time: the least usual delay of those clocks that are not surely ahead; 0 without one. Below 0
    the broker's clock is behind.

    Worked: -800 alone gives 0; with 200 and 900, 200; of -700, -800, -800, -810 and 300 the median counts, -800.
    """
    usual = sorted(delay.usual_ms for delay in delays if delay.recent >= FEWEST)
    if len(usual) >= MANY and usual[len(usual) // 2] < -NEGLIGIBLE_MS:
        return usual[len(usual) // 2]
    return next((ms for ms in usual if ms >= 0), 0)


def offset_ms(delay: InstanceDelay, way_ms: int) -> int | None:
    """The offset of a clock, above 0 ahead and below 0 behind; 0 for one that is right within the error; None where
    there is too little evidence.

    way_ms: the least transport time. Worked, with 200 ms: spans that arrive 800 ms before they end are of a clock that
    is 1,000 ms ahead. 8 s late at least is 1.8 s behind, since 6 s may be an exporter's. 3 s late is no offset.
    """
    if delay.recent < FEWEST:
        return None
    if delay.usual_ms < 0:
        offset = max(0, way_ms - delay.usual_ms)
    elif delay.windows >= FEWEST_BEHIND:
        offset = min(0, LONGEST_BATCH_MS + way_ms - delay.least_ms)
    else:
        return None
    return offset if abs(offset) > NEGLIGIBLE_MS else 0


class Clocks:
    """The corrections, from reading to reading. They do not change while the transport is slow."""

    def __init__(self) -> None:
        self._offsets_ms: dict[Instance, int] = {}
        self._apart: dict[Instance, int] = {}
        self._away: dict[Instance, int] = {}

    @property
    def offsets_ms(self) -> Mapping[Instance, int]:
        """Offsets of the instances whose clocks are off."""
        return dict(islice(((instance, ms) for instance, ms in self._offsets_ms.items() if ms), MOST))

    def take(self, delays: Mapping[Instance, InstanceDelay], bucket_ms: int) -> None:
        """Takes in a reading, one every ten seconds."""
        for instance in [*self._offsets_ms]:
            self._away[instance] = 0 if instance in delays else self._away.get(instance, 0) + 1
            if self._away[instance] > GONE:
                self._forget(instance)
        way_ms = fastest_ms(delays.values())
        if way_ms > SLOW_WAY_MS:
            return
        for instance, delay in delays.items():
            found_ms = offset_ms(delay, way_ms)
            if found_ms is not None:
                self._compare(instance, found_ms, max(bucket_ms, STEP_MS))

    def _compare(self, instance: Instance, found_ms: int, step_ms: int) -> None:
        offset_now_ms = self._offsets_ms.setdefault(instance, found_ms)
        apart = abs(found_ms - offset_now_ms) > step_ms
        self._apart[instance] = self._apart.get(instance, 0) + 1 if apart else 0
        if self._apart[instance] >= READINGS:
            self._offsets_ms[instance], self._apart[instance] = found_ms, 0

    def _forget(self, instance: Instance) -> None:
        for known in (self._offsets_ms, self._apart, self._away):
            known.pop(instance, None)
