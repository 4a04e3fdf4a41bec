"""How much of a host's contention is a service's own load: contention = others' + k x load, with k learnt.

A run changes loads; the contention that the next run finds shows what this did. k is the slope of the change of a
host's utilization over the change of its container's calls per second, over all containers of a service. What others
change on all hosts alike cancels out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sluice.subsets.application import Application
from sluice.subsets.damping import Loads
from sluice.subsets.fleet import Fleet, Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import ServiceLatency

#: The weight of the steps so far beside a new one.
KEPT = 0.8
#: k counts from this many standard errors on.
SURE = 3.0
#: The difference of a utilization over which a model's slope is taken. Within a step of its trees it has none.
WIDE = 0.1
FEWEST = 3.0
#: A utilization above it counts as this.
FULL = 0.99


@dataclass(frozen=True, eq=False)
class OwnLoad:
    """Weighted sums over containers and steps. count: of containers. xx: squared changes of load, (calls/s)^2. xy, yy:
    (3,) with, and of, changes of CPU, memory bandwidth and network utilization."""

    count: float
    xx: float
    xy: Floats
    yy: Floats

    @property
    def per_call(self) -> Floats:
        """k, (3,): utilization by calls per second; 0 where it is not known to be above 0."""
        slope, error = self._slope()
        return np.where(slope > SURE * error, slope, 0.0)

    @property
    def at_most(self) -> Floats:
        """(3,): what k is at most, SURE standard errors above the slope; inf where no step showed anything."""
        slope, error = self._slope()
        return np.asarray(np.maximum(slope + SURE * error, 0.0))

    def _slope(self) -> tuple[Floats, Floats]:
        """Of utilization over calls per second, and its standard error, (3,) each."""
        if self.xx <= 0 or self.count < FEWEST:
            return np.zeros(3), np.full(3, np.inf)
        slope = self.xy / self.xx
        rest = np.maximum(self.yy - slope * self.xy, 0.0) / (self.count - 1)
        return slope, np.sqrt(rest / self.xx)


NOTHING = OwnLoad(0.0, 0.0, np.zeros(3), np.zeros(3))


def observed(known: OwnLoad, load_change: Floats, change: Floats) -> OwnLoad:
    """One step more. load_change: (n,) calls/s; change: (n, 3) of utilizations, of the containers' hosts. Worked: loads
    +2, 0, -2 and CPU +0.4, +0.2, 0: k = 0.1."""
    x, y = load_change - load_change.mean(), change - change.mean(axis=0)
    return OwnLoad(
        KEPT * known.count + len(x), KEPT * known.xx + float(x @ x), KEPT * known.xy + x @ y,
        KEPT * known.yy + (y * y).sum(axis=0),
    )  # fmt: skip


def step_of(fleet: Fleet, before: Application, now: Application, loads: tuple[Loads, Loads], rate: float) -> (
    tuple[Floats, Floats] | None
):  # fmt: skip
    """The changes of loads and utilizations of a service's containers, as of `observed`; None without any.

    loads: relative to their mean, before and since the last run. rate: calls per second to the service.
    """
    was, there = ({host.name: host for host in app.hosts} for app in (before, now))
    at = {c.name: c.host for service in now.services if service.name == fleet.service for c in service.containers}
    names = [name for name in fleet.names if at.get(name) in was and at.get(name) in there]
    earlier, later = (of.get(fleet.service, {}) for of in loads)
    change = [(later.get(name, 1.0) - earlier.get(name, 1.0)) * rate / len(fleet) for name in names]
    if len(names) < FEWEST or not np.any(change):
        return None
    hosts = [(was[at[name]], there[at[name]]) for name in names]
    return np.array(change), np.array(
        [[b.cpu - a.cpu, b.memory_bandwidth - a.memory_bandwidth, b.network - a.network] for a, b in hosts]
    )


def tilted(curves: Curves, model: ServiceLatency, contention: Floats, load: Floats, per_call: Floats) -> Curves:
    """The curves of containers whose hosts' contention, (n, 3), was measured at `load`, (n,) calls/s, and rises by
    per_call, (3,), with each call per second more. On a host that becomes busier than any in the samples latency grows
    as 1 / (1 - utilization), as of an M/M/1 queue: there the model itself knows nothing."""
    slope, more = np.zeros(len(load)), curves.rate_per_s[None, :] - load[:, None]
    beyond = np.zeros(more.shape)
    for kind in np.flatnonzero(per_call > 0).tolist():
        ends = [contention.copy(), contention.copy()]
        ends[0][:, kind] = np.maximum(contention[:, kind] - WIDE, 0.0)
        ends[1][:, kind] = np.minimum(contention[:, kind] + WIDE, 1.0)
        low, high = (model.curves(end).at(load)[0] for end in ends)
        slope += per_call[kind] * np.maximum(high - low, 0.0) / np.maximum((ends[1] - ends[0])[:, kind], 1e-9)
        if curves.busiest is not None:
            known = np.minimum(np.maximum(contention[:, kind], curves.busiest[kind]), FULL)[:, None]
            brought = np.minimum(contention[:, kind, None] + per_call[kind] * more, FULL)
            beyond += np.log((1 - known) / (1 - np.maximum(brought, known)))
    return replace(curves, mu=curves.mu + slope[:, None] * more + beyond)


Owns = Mapping[str, OwnLoad]
"""By service."""
