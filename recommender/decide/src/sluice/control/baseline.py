"""What a pool stands on: CPU limit, version and replicas of its service, and of the peer of a client pool."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.keys import Side


@dataclass(frozen=True)
class Machine:
    """Of one service, as told; None and "": nobody did. cores: of one instance."""

    cores: float | None = None
    version: str = ""
    replicas: int | None = None


@dataclass(frozen=True)
class Baseline:
    """own: of the pool's service; peer: of the one that a client pool leads to."""

    own: Machine = Machine()
    peer: Machine = Machine()

    def cores(self, side: Side) -> float:
        """What stands behind one instance's pool; 0 where nobody told.

        The threads of a server or consumer pool compute on its own cores. A connection pool keeps its peer busy, of
        which each of its service's replicas has a part. Worked: 1 caller of 2 replicas of 4 cores has 8; of 3 callers,
        each 2.7.
        """
        if side != "client":
            return self.own.cores or 0.0
        return (self.peer.cores or 0.0) * (self.peer.replicas or 1) / (self.own.replicas or 1)

    @property
    def version(self) -> str:
        """Both versions in one; "" while nobody told either."""
        return " to ".join(filter(None, (self.own.version, self.peer.version)))
