"""What hardware autoscalers told of each service, and what its pools therefore stand on."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

from sluice.core.keys import PoolKey
from sluice.pools.estimate.memory import UNTOLD, Footing

# Events kept per service; older ones have been told apart long ago.
REMEMBERED = 64


@dataclass(frozen=True, order=True)
class Scaling:
    """One notification; at_ms: Unix time from which it was in force. None and "": not told by this one."""

    at_ms: int
    service: str
    cpu_limit_cores: float | None
    replicas: int | None
    version: str
    source: str

    @property
    def moves_curve(self) -> bool:
        """Replicas do not: sizes and curves are per instance."""
        return self.cpu_limit_cores is not None or self.version != ""


@dataclass(frozen=True)
class Standing:
    """A pool's footing, and since when (Unix ms); None when it never changed as far as anybody told."""

    footing: Footing = UNTOLD
    since_ms: int | None = None


class Scalings:
    """Thread-safe: told by gRPC threads, asked by the control loop. Events may come late, twice and out of order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events: dict[str, list[Scaling]] = {}

    def restore(self, events: list[Scaling]) -> None:
        """Takes up what was told before a restart; what was told since the start stays."""
        for event in events:
            self.notify(event)

    def notify(self, event: Scaling) -> None:
        if not event.moves_curve:
            return
        with self._lock:
            events = self._events.setdefault(event.service, [])
            if event not in events:
                insort(events, event, key=lambda one: one.at_ms)
                del events[:-REMEMBERED]

    def standing(self, key: PoolKey) -> Standing:
        """Of the service and, for a client pool, of the peer that it leads to: the later change counts."""
        with self._lock:
            cores, version, since = _fold(self._events.get(key.service, []))
            peer_cores, peer_version, peer_since = _fold(self._events.get(key.peer, []) if key.peer else [])
        changes = [at for at in (since, peer_since) if at is not None]
        return Standing(Footing(cores, version, peer_cores, peer_version), max(changes, default=None))

    def left(self, key: PoolKey) -> list[tuple[Footing, int]]:
        """The footings before the one of now, oldest first, and when each ended (Unix ms)."""
        with self._lock:
            own = list(self._events.get(key.service, []))
            peer = list(self._events.get(key.peer, [])) if key.peer else []
        course = []
        for at in sorted({event.at_ms for event in (*own, *peer)}):
            cores, version, _ = _fold([event for event in own if event.at_ms <= at])
            peer_cores, peer_version, _ = _fold([event for event in peer if event.at_ms <= at])
            course.append((at, Footing(cores, version, peer_cores, peer_version)))
        return [(before, end) for (_, before), (end, after) in pairwise(course) if before != after]


def _fold(events: list[Scaling]) -> tuple[float | None, str, int | None]:
    """CPU limit, version, and when either of them last changed.

    The first event counts as a change: a sender that reports what it found says since when it was so.
    """
    cores: float | None = None
    version, since = "", None
    for event in events:
        now = (cores if event.cpu_limit_cores is None else event.cpu_limit_cores, event.version or version)
        if now != (cores, version):
            (cores, version), since = now, event.at_ms
    return cores, version, since
