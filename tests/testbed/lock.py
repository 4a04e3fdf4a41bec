"""A lock that requests hold one at a time, first come first served."""

from collections import deque
from collections.abc import Callable
from typing import Any

from .engine import Action, Engine

Seconds = Callable[[int], float]
"""How long the lock is held, by the number of those who wait behind the holder when it takes it."""


class Lock:
    __slots__ = ("_engine", "_held", "_waiting")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._held = False
        self._waiting: deque[tuple[Seconds, Action, Any]] = deque()

    def acquire(self, seconds: Seconds, done: Action, argument: Any) -> None:
        """``done(argument)`` runs when the lock was held and is given back."""
        if self._held:
            self._waiting.append((seconds, done, argument))
        else:
            self._held = True
            self._hold((seconds, done, argument))

    def _hold(self, holder: tuple[Seconds, Action, Any]) -> None:
        self._engine.after(holder[0](len(self._waiting)), self._release, holder)

    def _release(self, holder: tuple[Seconds, Action, Any]) -> None:
        if self._waiting:
            self._hold(self._waiting.popleft())
        else:
            self._held = False
        _, done, argument = holder
        done(argument)
