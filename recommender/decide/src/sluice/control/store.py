"""The newest answer of every pool, and the numbering of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from sluice.control.answer import Answer, Content
from sluice.core.keys import PoolKey


@dataclass(frozen=True)
class Memory:
    """What outlives a restart. `content` is that of the answer with `revision`."""

    revision: int
    content: Content | None


@dataclass(frozen=True)
class Published:
    """One set of answers, ordered by service, side, peer.

    number     grows by one with each set, from 1
    changed    the number of the set in which the answer of a pool last became a new one
    pools_at   the number of the set in which the pools were last other ones than before
    """

    answers: dict[PoolKey, Answer]
    number: int
    changed: dict[PoolKey, int]
    pools_at: int


class NotReadyError(Exception):
    """Nothing was published yet."""


class Store:
    """Thread-safe. Answers are swapped all at once, so a list is always from one period.

    Not ready until the memory was restored and a first set was published: before that, a revision could be lower
    than one that was given out before the restart. `listen` names who is told of each new set, on the thread that
    publishes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._published: Published | None = None
        self._memory: dict[PoolKey, Memory] = {}
        self._listeners: list[Callable[[Published], None]] = []

    def listen(self, listener: Callable[[Published], None]) -> None:
        self._listeners.append(listener)

    def restore(self, memory: dict[PoolKey, Memory]) -> None:
        with self._lock:
            self._memory = dict(memory)

    def content(self, key: PoolKey) -> Content | None:
        """Of the newest answer, also one from before a restart."""
        with self._lock:
            memory = self._memory.get(key)
            return memory.content if memory else None

    def last(self, key: PoolKey) -> Answer | None:
        """The newest answer that was published; None before the first."""
        with self._lock:
            return self._published.answers.get(key) if self._published else None

    def number(self, answers: list[Answer]) -> list[Answer]:
        """The answers with their revisions: one more than the last where the content changed, else the same."""
        with self._lock:
            return [self._number(answer) for answer in answers]

    def publish(self, numbered: list[Answer]) -> None:
        """Makes these the newest answers; pools that are not among them are forgotten."""
        with self._lock:
            published = self._published = _next(self._published, numbered)
        for listener in self._listeners:
            listener(published)

    @property
    def ready(self) -> bool:
        with self._lock:
            return self._published is not None

    def published(self) -> Published:
        """The newest set; NotReadyError before the first."""
        with self._lock:
            if self._published is None:
                raise NotReadyError("the recommender is starting: no answer was published yet")
            return self._published

    def newest(self) -> list[Answer]:
        """All answers, ordered by service, side, peer; NotReadyError before the first set."""
        return list(self.published().answers.values())

    def get(self, key: PoolKey) -> Answer | None:
        """The newest answer of a pool; None for a pool that is not configured."""
        return self.published().answers.get(key)

    def _number(self, answer: Answer) -> Answer:
        before = self._memory.get(answer.key, Memory(0, None))
        same = before.content == answer.content
        revision = before.revision if same else before.revision + 1
        self._memory[answer.key] = Memory(revision, answer.content)
        return replace(answer, revision=revision)


def _next(before: Published | None, numbered: list[Answer]) -> Published:
    number = before.number + 1 if before else 1
    answers = {answer.key: answer for answer in sorted(numbered, key=lambda answer: answer.key)}
    changed = {
        key: before.changed[key]
        if before and key in before.answers and before.answers[key].revision == answer.revision
        else number
        for key, answer in answers.items()
    }
    same_pools = before is not None and before.answers.keys() == answers.keys()
    return Published(answers, number, changed, before.pools_at if before and same_pools else number)
