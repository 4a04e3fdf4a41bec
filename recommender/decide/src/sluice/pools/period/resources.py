"""The resources that the pools of all shards of a decider share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from sluice.model.problems import Problems
from sluice.pools.discovery.room import MemoryRoom
from sluice.pools.period.critical_services import CriticalPaths
from sluice.pools.period.spread import Spread
from sluice.pools.period.workers import Workers


@dataclass
class PoolResources:
    """Worker processes, critical paths, the log of problems. alive: called in a period to report progress.
    background: runs one reading at a time beside the periods. room: pools that fit in memory."""

    workers: Workers = field(default_factory=Workers)
    spread: Spread = field(default_factory=Spread)
    problems: Problems = field(default_factory=Problems)
    alive: Callable[[], None] = lambda: None
    background: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="pools"))
    critical: CriticalPaths = field(default_factory=CriticalPaths)
    room: MemoryRoom = field(default_factory=MemoryRoom)

    def close(self) -> None:
        self.workers.close()
        self.spread.close()
        self.background.shutdown(wait=False, cancel_futures=True)
