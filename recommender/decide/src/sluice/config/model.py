"""The whole configuration file: the sections of the engine and of each product. Unknown keys are errors."""

from __future__ import annotations

from pydantic import model_validator

from sluice.config.groups import check_groups
from sluice.engine.section import EngineSection
from sluice.pools.discovery.selection import ShardDiscovery
from sluice.pools.section import PoolsSection
from sluice.subsets.section import SubsetsSection, check_subsets


class Config(PoolsSection, SubsetsSection, EngineSection):
    """A product adds its section as a base class, and its part of `of_shard`."""

    def of_shard(self, number: int) -> Config:
        """The configuration of one group: its pools, backends and subsets."""
        if len(self.groups) == 1:
            return self
        group = self.groups[number]
        pools = [pool for pool in self.pools if (pool.group or self.groups[0]) == group]
        backends = [backend for backend in self.backends if backend.group in ("", group)]
        subsets = [subset for subset in self.subsets if (subset.group or self.groups[0]) == group]
        update = {"pools": pools, "backends": backends, "subsets": subsets, "discovery": self._discovery_of(group)}
        return self.model_copy(update=update)

    def _discovery_of(self, group: str) -> ShardDiscovery | None:
        if self.discovery is None:
            return None
        groups = {pool.key: pool.group or self.groups[0] for pool in self.pools}
        return ShardDiscovery(
            include=self.discovery.include,
            exclude=self.discovery.exclude,
            most=self.discovery.most,
            group=group,
            groups=tuple(self.groups),
            placed={key.service: own for key, own in groups.items()},
            others=frozenset(key for key, own in groups.items() if own != group),
        )

    def __str__(self) -> str:
        """What a person reads of it: the named pools, `auto` where spans show them, and the SLOs."""
        pools = f"{len(self.pools)} pools" if self.pools or self.discovery is None else "pools: auto"
        others = " and those found" if self.pools and self.discovery is not None else ""
        return f"{pools}{others}, {len(self.slos)} SLOs"

    @model_validator(mode="after")
    def _grouped(self) -> Config:
        check_groups(self.groups, self.pools, self.backends, self.slo_names, discovers=self.discovery is not None)
        check_subsets(self.groups, self.subsets)
        return self
