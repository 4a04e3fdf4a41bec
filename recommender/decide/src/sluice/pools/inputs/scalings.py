"""Notifications of hardware autoscalers by service, and the deployments under pools since each of them."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sluice.model.containers import ReportedContainers
from sluice.model.keys import PoolKey
from sluice.model.scaling import Scaling
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.inputs.deployments import Deployment, Deployments

# Events kept per service.
REMEMBERED = 64
# Before a notified change, for this long, either deployment may have been in force.
UNSURE_MS = 1_000


@dataclass(frozen=True)
class Course:
    """The deployments under a pool with their start (Unix ms), ascending. The first one has no start."""

    at_ms: tuple[int, ...]
    deployments: tuple[Deployments, ...]

    @property
    def now(self) -> Deployments:
        return self.deployments[-1]

    @property
    def since_ms(self) -> int | None:
        """Time of the last notified change of CPU limit or version. The first notification counts as a change: its
        sender gives the time from which it holds."""
        last = None
        for previous, after, at in zip(self.deployments, self.deployments[1:], self.at_ms[1:], strict=False):
            if _curve(previous) != _curve(after):
                last = at
        return last

    def cores(self, key: PoolKey, bucket_start_ms: Ints) -> Floats:
        """Cores behind the pool in each bucket, shape (n,). NaN within a second before a change, and where the version
        differed from the present one: those buckets are of another service."""
        if len(self.at_ms) == 1:
            return np.full(len(bucket_start_ms), self.now.cores(key.side))
        cores_of = np.array([one.cores(key.side) for one in self.deployments])
        other = np.array([one.version not in ("", self.now.version) for one in self.deployments])
        index = np.searchsorted(self.at_ms, bucket_start_ms, side="right") - 1
        soon = np.searchsorted(self.at_ms, bucket_start_ms + UNSURE_MS, side="right") - 1
        cores = cores_of[index]
        cores[other[index] | (cores_of[soon] != cores_of[index])] = np.nan
        return cores


class Scalings:
    """Accepts events late, twice and out of order."""

    def __init__(self, events: Iterable[Scaling] = ()) -> None:
        self._events: dict[str, list[Scaling]] = {}
        self._courses: dict[PoolKey, Course] = {}
        self.notified = 0
        """Number of notifications that were new."""
        for event in events:
            self.notify(event)

    def notify(self, event: Scaling) -> None:
        events = self._events.setdefault(event.service, [])
        if event not in events:
            insort(events, event, key=lambda one: one.at_ms)
            events[:] = _containers_once(events)[-REMEMBERED:]
            self._courses.clear()
            self.notified += 1

    def containers(self) -> dict[str, ReportedContainers]:
        """The newest notified containers, by service."""
        return {
            service: ReportedContainers(event.at_ms / 1000, event.containers)
            for service, events in self._events.items()
            for event in events
            if event.containers
        }

    def course(self, key: PoolKey) -> Course:
        """The deployments of the pool's service and, for a client pool, of its peer."""
        course = self._courses.get(key)
        if course is None:
            own, peer = self._events.get(key.service, []), self._events.get(key.peer, []) if key.peer else []
            course = self._courses[key] = _course(own, peer)
        return course

    def of(self, service: str) -> tuple[Scaling, ...]:
        """The kept events, oldest first."""
        return tuple(self._events.get(service, ()))

    def replicas(self, service: str) -> int | None:
        """The newest notified number; None before the first."""
        notified = [event.replicas for event in self._events.get(service, []) if event.replicas is not None]
        return notified[-1] if notified else None


def _containers_once(events: list[Scaling]) -> list[Scaling]:
    """Keeps the newest list of containers only. Drops events that then have nothing left."""
    newest = max((at for at, event in enumerate(events) if event.containers), default=-1)
    kept = [event if at == newest else replace(event, containers=()) for at, event in enumerate(events)]
    with_content = [
        event
        for event in kept
        if event.containers or event.cpu_limit_cores or event.replicas is not None or event.version
    ]
    return list(dict.fromkeys(with_content))


def _course(own: list[Scaling], peer: list[Scaling]) -> Course:
    own_course, peer_course = _deployments(own), _deployments(peer)
    times, deployments = [0], [Deployments()]
    for at in sorted({event.at_ms for event in (*own, *peer)}):
        newest = Deployments(_at(own_course, at), _at(peer_course, at))
        if newest != deployments[-1]:
            times.append(at)
            deployments.append(newest)
    return Course(tuple(times), tuple(deployments))


def _deployments(events: list[Scaling]) -> list[tuple[int, Deployment]]:
    deployment, deployments = Deployment(), []
    for event in events:
        deployment = Deployment(
            deployment.cores if event.cpu_limit_cores is None else _millicores(event.cpu_limit_cores),
            event.version or deployment.version,
            deployment.replicas if event.replicas is None else event.replicas,
        )
        deployments.append((event.at_ms, deployment))
    return deployments


def _millicores(cores: float) -> float:
    """To thousandths, as Kubernetes has CPU limits: evidence is kept by CPU limit. Worked: an autoscaler computes 0.5 -
    0.4 = 0.09999999999999998, which is 0.1."""
    return max(0.001, round(cores, 3))


def _at(course: list[tuple[int, Deployment]], at_ms: int) -> Deployment:
    index = bisect_right(course, at_ms, key=lambda one: one[0])
    return course[index - 1][1] if index else Deployment()


def _curve(deployments: Deployments) -> tuple[float | None, str, float | None, str]:
    """The parts that a curve depends on. Replicas of the service are not among them: curves are per instance."""
    return deployments.own.cores, deployments.own.version, deployments.peer.cores, deployments.peer.version
