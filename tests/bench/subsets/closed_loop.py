"""Closed loop: a decider follows a mesh whose hosts' contention follows the weights that the decider publishes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from sluice.subsets.application import Call
from sluice.subsets.fleet import Ints
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.observed import (
    ObservedApplication,
    ObservedCalls,
    ObservedContainer,
    ObservedHost,
    ObservedTree,
)
from sluice.subsets.trial import MeasuredLatency
from testbed.mesh.calibration import Floats
from testbed.mesh.memory import BINS, FINEST, STEP
from testbed.mesh.run import Counters, MeshRun
from testbed.mesh.samples import Sample, between

WINDOW_S = 10
MINUTE = 6
"""Windows; contention and measured latencies are those of the newest minute, as of `SubsetReader`."""


@dataclass
class Seen:
    """What the pipeline has of a mesh at the end of a window."""

    counters: Counters
    own: np.ndarray
    """(pairs, BINS): own times, so far."""
    calls: np.ndarray
    """(containers, containers): calls, so far, by caller and called container."""


@dataclass
class MeshSource:
    """What the pipeline shows of a mesh in which `front` calls `cart`. Windows of 10 s, since `began_s` (Unix time)."""

    run: MeshRun
    began_s: int
    seen: deque[Seen] = field(default_factory=deque)
    samples_by_window: list[tuple[int, LatencySamples]] = field(default_factory=list)
    keep_windows: int = 31

    def __post_init__(self) -> None:
        self.seen.append(self._now())

    def _now(self) -> Seen:
        engine = self.run.engine
        return Seen(self.run.counters(), engine.pairs(), engine.calls())

    def window(self) -> None:
        """10 s pass in the mesh."""
        self.run.until(self.run.now + WINDOW_S)
        now = self._now()
        of_window = [
            one for one in between(self.seen[-1].counters, now.counters, self.run.fleet) if one.service == "cart"
        ]
        if of_window:
            self.samples_by_window.append((round(now.counters.second) - WINDOW_S, _samples(of_window)))
        self.seen.append(now)
        while len(self.seen) > self.keep_windows:
            self.seen.popleft()

    def fullest(self) -> float:
        """The largest part of the newest window in which a container of `cart` computed, 0 to 1."""
        before, after = self.seen[-2].counters, self.seen[-1].counters
        there = self.run.fleet.service == self.run.fleet.services.index("cart")
        return float((after.busy_s - before.busy_s)[there].max() / WINDOW_S)

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication:
        newest_s, fleet = now_ms // 1000, self.run.fleet
        first, last = self.seen[0], self.seen[-1]
        seconds = last.counters.second - first.counters.second
        visits = last.counters.tallies["visits"] - first.counters.tallies["visits"]
        containers = tuple(
            ObservedContainer(
                fleet.services[fleet.service[at]],
                name,
                fleet.hosts[fleet.host[at]],
                int(visits[at]),
                newest_s - round(seconds),
                newest_s,
            )
            for at, name in enumerate(fleet.names)
        )
        fronts = int(visits[fleet.service == fleet.services.index("front")].sum())
        minute = self.seen[max(0, len(self.seen) - 1 - MINUTE)]
        elapsed = last.counters.second - minute.counters.second
        # Sums of a full host's seconds may be above 1 by a rounding; `SubsetReader` bounds them too.
        used = np.minimum((last.counters.utilization_s - minute.counters.utilization_s) / elapsed, 1.0)
        counts = (last.own - minute.own).sum(axis=0)
        measured = MeasuredLatency(percentile(counts, 0.95), int(counts.sum()), newest_s - elapsed, newest_s)
        return ObservedApplication(
            containers,
            (ObservedTree("GET /", Call("front", ((Call("cart"),),)), fronts),),
            {name: ObservedHost(*map(float, values)) for name, values in zip(fleet.hosts, used, strict=True)},
            seconds,
            newest_s,
            measured={"cart": measured},
            calls=tuple(self._calls(newest_s)),
        )

    def _calls(self, newest_s: int) -> Iterator[ObservedCalls]:
        """Of the newest two minutes, as of `SubsetReader`."""
        fleet, lately = self.run.fleet, list(self.seen)[-1 - 2 * MINUTE :]
        names = [(fleet.services[service], name) for service, name in zip(fleet.service, fleet.names, strict=True)]
        for back, (before, after) in enumerate(pairwise(lately)):
            start_s = newest_s - WINDOW_S * (len(lately) - 1 - back)
            made = after.calls - before.calls
            for caller, called in np.argwhere(made > 0).tolist():
                yield ObservedCalls(*names[caller], *names[called], start_s, int(made[caller, called]))

    def samples(self, now_ms: int, learn_ms: float) -> dict[str, tuple[LatencySamples, Ints]]:
        """Drawn as `SubsetReader` does, at most 5,000."""
        oldest = self.run.now - learn_ms / 1000
        kept = [(start, one) for start, one in self.samples_by_window if start >= oldest]
        if not kept:
            return {}
        starts = np.concatenate([np.full(len(one), start) for start, one in kept]).astype(np.int64)
        whole = joined([one for _, one in kept])
        chosen = np.zeros(len(whole), dtype=bool)
        chosen[np.random.default_rng(0).permutation(len(whole))[:5000]] = True
        return {"cart": (whole.where(chosen), starts[chosen])}


def percentile(counts: np.ndarray, share: float) -> float:
    """ms, from a histogram of `memory.BINS`; between the bounds of a bin in proportion to its count."""
    so_far = np.cumsum(counts)
    wanted = share * so_far[-1]
    at = min(int(np.searchsorted(so_far, wanted)), BINS - 1)
    part = 1.0 - (so_far[at] - wanted) / max(counts[at], 1)
    return float(np.exp(FINEST + (at + part) * STEP))


def joined(several: Iterable[LatencySamples]) -> LatencySamples:
    those = list(several)
    return LatencySamples(*(np.concatenate([getattr(one, name) for one in those]) for name in FIELDS))


FIELDS = ("rate_per_s", "contention", "mu", "sigma")


def _samples(those: list[Sample]) -> LatencySamples:
    columns: list[Floats] = [
        np.array([one.rate_per_s for one in those]),
        np.array([one.utilization for one in those]),
        np.array([one.mu for one in those]),
        np.array([one.sigma for one in those]),
    ]
    return LatencySamples(*columns)
