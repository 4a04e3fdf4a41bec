"""Which candidates discovery takes: `discovery` of the configuration, and its part of a group."""

from __future__ import annotations

from functools import lru_cache
from hashlib import md5

from pydantic import Field, model_validator

from sluice.document import Strict
from sluice.model.keys import PoolKey, Side
from sluice.model.patterns import matches


class PoolSelector(Strict):
    """Selects pools: `*` in `service` and `peer` stands for any text. A field that is absent selects all."""

    service: str | None = Field(default=None, min_length=1)
    side: Side | None = None
    peer: str | None = Field(default=None, min_length=1)

    def selects(self, key: PoolKey) -> bool:
        return (
            (self.side is None or self.side == key.side)
            and (self.service is None or matches(self.service, key.service))
            and (self.peer is None or matches(self.peer, key.peer))
        )

    @model_validator(mode="after")
    def _selective(self) -> PoolSelector:
        if not self.model_fields_set:
            raise ValueError("is empty; legal: at least one of service, side, peer")
        if self.peer is not None and self.side not in (None, "client"):
            raise ValueError(f"peer {self.peer!r} is not legal with side {self.side}; legal: side client, or no peer")
        return self


class Discovery(Strict):
    """Which pools are found from spans: those that some `include` selects, or all without any, and no `exclude`.

    most  number of pools that are found, the ones with most in flight first
    """

    include: list[PoolSelector] = Field(default=[])
    exclude: list[PoolSelector] = Field(default=[])
    most: int = Field(default=1_000, ge=1, le=10_000)

    def selects(self, key: PoolKey) -> bool:
        included = not self.include or any(selector.selects(key) for selector in self.include)
        return included and not any(selector.selects(key) for selector in self.exclude)


class ShardDiscovery(Discovery):
    """The part of one group. Pools of a service belong to the group of its configured pools, else to the one that a
    hash of its name chooses: a further group takes only its own part of the services.

    placed  the group of each service with a configured pool
    others  pools that the configuration has in other groups
    """

    group: str
    groups: tuple[str, ...]
    placed: dict[str, str]
    others: frozenset[PoolKey]

    def selects(self, key: PoolKey) -> bool:
        return super().selects(key) and key not in self.others and self._group_of(key.service) == self.group

    def _group_of(self, service: str) -> str:
        return self.placed.get(service) or max(self.groups, key=lambda group: _weight(group, service))


@lru_cache(maxsize=100_000)
def _weight(group: str, service: str) -> bytes:
    return md5(f"{group}\n{service}".encode(), usedforsecurity=False).digest()
