"""The deployments under a pool: CPU limit, version and replicas of its service, and of a client pool's peer."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.keys import Side


@dataclass(frozen=True)
class Deployment:
    """One service, by notifications; None and "": not notified. cores: of one instance."""

    cores: float | None = None
    version: str = ""
    replicas: int | None = None


@dataclass(frozen=True)
class Deployments:
    """own: of the pool's service. peer: of a client pool's peer."""

    own: Deployment = Deployment()
    peer: Deployment = Deployment()

    def cores(self, side: Side) -> float:
        """Cores behind one instance's pool; 0 where they are not known.

        The threads of a server or consumer pool run on its own cores. A connection pool loads its peer, of which each
        of the service's replicas has a share. Worked: 1 caller of 2 replicas of 4 cores has 8; each of 3 callers has
        2.7.
        """
        if side != "client":
            return self.own.cores or 0.0
        return (self.peer.cores or 0.0) * (self.peer.replicas or 1) / (self.own.replicas or 1)

    @property
    def version(self) -> str:
        """Both versions as one text; "" while neither is known."""
        return " to ".join(filter(None, (self.own.version, self.peer.version)))
