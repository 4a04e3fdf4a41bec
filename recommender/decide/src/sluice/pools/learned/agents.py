"""The agents of one process: takes lessons, returns opinions, writes checkpoints every five minutes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sluice.model.keys import PoolKey, number_of
from sluice.pools.estimate.attempt import Failed
from sluice.pools.learned.agent import Agent
from sluice.pools.learned.checkpoint import CheckpointError
from sluice.pools.learned.directory import read, write
from sluice.pools.learned.lesson import Learned, Lesson
from sluice.pools.learned.settings import SETTINGS
from sluice.pools.learned.sizes import grid
from sluice.pools.policy.state import Checkpoint

EVERY_MS = 300_000
# Most gradient steps of a pool in one lesson, so that no other pool waits for a first lesson or one after a long pause;
# and most steps that are made up for later.
STEPS, OWED = 120, 1_200
# An agent trains on all data, some 22 steps a second, for the first number of steps under the present condition; after
# that, for the second number of steps a second.
LEARNING, SPARING = 6_000, 2


@dataclass
class _AgentEntry:
    agent: Agent
    bounds: tuple[int, int]
    checkpoint: Checkpoint | None
    refused: str = ""
    """Why the journal's checkpoint was refused, until another one is written."""
    written_ms: int | None = None
    written: set[str] = field(default_factory=set)


class Agents:
    """Agents by pool. The pool's name is the seed, so that its agent is the same in every process."""

    def __init__(self) -> None:
        self._entries: dict[PoolKey, _AgentEntry] = {}

    def learn(self, lessons: list[Lesson]) -> list[Learned | Failed]:
        """The results of lessons. A failure of one does not affect others."""
        return [self._attempt(lesson) for lesson in lessons]

    def _attempt(self, lesson: Lesson) -> Learned | Failed:
        try:
            return self._learn(lesson)
        except Exception as cause:
            return Failed(type(cause).__name__, str(cause))

    def _learn(self, lesson: Lesson) -> Learned:
        entry = self._of(lesson)
        agent, before_ms = entry.agent, entry.agent.until_ms
        if lesson.windows is not None:
            agent.take(lesson.windows, lesson.slo_s, lesson.condition)
        learner = agent.learner
        sparing = SPARING * ((agent.until_ms - before_ms) // 1_000)
        learner.owed = min(learner.owed, OWED if learner.steps < LEARNING else sparing)
        agent.train(STEPS)
        problem = self._write(entry, lesson)
        return Learned(agent.opinion(), entry.checkpoint, entry.refused or problem)

    def _of(self, lesson: Lesson) -> _AgentEntry:
        """The agent held here, or that of the journal's checkpoint where another process trained it since."""
        entry, checkpoint = self._entries.get(lesson.key), lesson.checkpoint
        if entry is not None and entry.bounds == lesson.bounds:
            known = {None, entry.checkpoint.sha256 if entry.checkpoint else None, *entry.written}
            if (checkpoint.sha256 if checkpoint else None) in known:
                return entry
        sizes, refused = grid(*lesson.bounds), ""
        agent = Agent(sizes, number_of(lesson.key))
        if checkpoint is not None:
            try:
                agent = read(Path(lesson.directory), checkpoint, sizes, SETTINGS)
            except CheckpointError as cause:
                refused, checkpoint = f"{checkpoint.name}: {cause}", None
        entry = self._entries[lesson.key] = _AgentEntry(agent, lesson.bounds, checkpoint, refused)
        if lesson.checkpoint is not None:
            entry.written_ms = checkpoint.at_ms if checkpoint is not None else lesson.now_ms
            entry.written.add(lesson.checkpoint.sha256)
        return entry

    def _write(self, entry: _AgentEntry, lesson: Lesson) -> str:
        """Writes a checkpoint when due. Returns the error; "" without one."""
        agent, written_ms = entry.agent, entry.written_ms
        turn_came = written_ms is None or _turn(lesson.key, lesson.now_ms) > _turn(lesson.key, written_ms)
        if not turn_came or len(agent.learner.replay) == 0:
            return ""
        try:
            entry.checkpoint = write(Path(lesson.directory), lesson.key, agent, lesson.now_ms)
        except OSError as cause:
            return f"no checkpoint could be written to {lesson.directory}: {cause.strerror}"
        entry.refused, entry.written_ms = "", lesson.now_ms
        entry.written.add(entry.checkpoint.sha256)
        return ""


def _turn(key: PoolKey, now_ms: int) -> int:
    """A number that grows by one every five minutes, at a different second for each pool."""
    return (now_ms - number_of(key) % EVERY_MS) // EVERY_MS
