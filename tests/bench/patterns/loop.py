"""The recommender's loop over one pattern: its decider on a log in memory, with the configuration's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from bench.controllers.applied import Applied
from bench.patterns.collected import Collected
from sluice.config import Config
from sluice.model.keys import PoolKey, Side
from sluice_kit.decide.fakes import FakeClock
from sluice_kit.journal.memory_log import MemoryLog, pool_shard
from testbed.patterns.pattern import Pattern
from testbed.patterns.windows import Known, reader_ms


@dataclass(frozen=True)
class Answer:
    """One answer. best: without the constraints; lower, upper, best, loss: None where nothing is believed."""

    at_s: float
    state: str
    action: str
    basis: str
    current: int | None
    target: int | None
    best: int | None
    lower: int | None
    upper: int | None
    loss: float | None
    confidence: float
    codes: tuple[str, ...]


@dataclass
class Loop:
    """Of one pool, of one target. Nobody tells CPU limits or replicas."""

    pattern: type[Pattern]
    known: Known
    course: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        pattern = self.pattern
        self._key = PoolKey(pattern.name, cast(Side, pattern.side), pattern.peer)
        self._clock, self._log = FakeClock(reader_ms(0)), MemoryLog()
        self._actuator = Applied((1, pattern.most))
        pool = self._key._asdict() | {"threshold": f"{pattern.slo_s:g}s", "bounds": {"min": 1, "max": pattern.most}}
        config = Config.model_validate({"pools": [pool]})
        self._loop = self._log.loop(config, Collected(self.known), self._clock)

    def decide(self, now_s: float, size: int) -> int | None:
        """size: as read back now. What the actuator writes, None for nothing."""
        now_ms = self._clock.now_ms = reader_ms(now_s)
        self._log.size(self._key, size, now_ms, "target", written=True)
        self._loop.hear()
        self._loop.periods()
        answer = pool_shard(self._loop).answers.get(self._key)
        if answer is None or "FAILED" in answer.content.codes:
            raise RuntimeError(f"{now_s} s: nothing was decided for {self._key}")
        content = answer.content
        self.course.append(
            Answer(
                now_s,
                content.state,
                content.action,
                content.basis,
                content.current,
                content.target,
                content.unguarded_target,
                content.lower_bound,
                content.upper_bound,
                answer.loss,
                answer.confidence,
                content.codes,
            )
        )
        wanted = self._actuator.size(content, size, now_ms)
        if wanted is not None:
            self._log.size(self._key, wanted, now_ms, "target", written=True)
        return wanted
