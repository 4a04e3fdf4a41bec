"""The newest answer of every pool, and the numbering of answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock

from sluice.config import PoolKey
from sluice.guard import LastGood
from sluice.serve.answer import Answer, Content


@dataclass(frozen=True)
class Memory:
    """What outlives a restart. `content` is that of the answer with `revision`."""

    revision: int
    content: Content | None
    last_good: LastGood | None


class NotReadyError(Exception):
    """Nothing was published yet."""


class Store:
    """Thread-safe. Answers are swapped all at once, so a list is always from one period.

    Not ready until the memory was restored and a first set was published: before that, a revision could be lower
    than one that was given out before the restart.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: dict[PoolKey, Answer] | None = None
        self._memory: dict[PoolKey, Memory] = {}

    def restore(self, memory: dict[PoolKey, Memory]) -> None:
        with self._lock:
            self._memory = dict(memory)

    def last_good(self, key: PoolKey) -> LastGood | None:
        with self._lock:
            memory = self._memory.get(key)
            return memory.last_good if memory else None

    def number(self, answers: list[Answer]) -> list[Answer]:
        """The answers with their revisions: one more than the last where the content changed, else the same."""
        with self._lock:
            return [self._number(answer) for answer in answers]

    def publish(self, numbered: list[Answer]) -> None:
        """Makes these the newest answers; pools that are not among them are forgotten."""
        with self._lock:
            self._answers = {answer.key: answer for answer in sorted(numbered, key=lambda answer: answer.key)}

    @property
    def ready(self) -> bool:
        with self._lock:
            return self._answers is not None

    def newest(self) -> list[Answer]:
        """All answers, ordered by service, side, peer; NotReadyError before the first set."""
        with self._lock:
            if self._answers is None:
                raise NotReadyError("the recommender is starting: no answer was published yet")
            return list(self._answers.values())

    def get(self, key: PoolKey) -> Answer | None:
        """The newest answer of a pool; None for a pool that is not configured."""
        return next((answer for answer in self.newest() if answer.key == key), None)

    def _number(self, answer: Answer) -> Answer:
        before = self._memory.get(answer.key, Memory(0, None, None))
        same = before.content == answer.content
        revision = before.revision if same else before.revision + 1
        good = before.last_good
        if answer.content.state in ("PROVIDED", "GUARDED") and answer.content.target is not None:
            good = LastGood(answer.content.target, answer.computed_at_ms)
        self._memory[answer.key] = Memory(revision, answer.content, good)
        return replace(answer, revision=revision)
