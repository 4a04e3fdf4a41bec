"""A soft resource: a number of slots (threads, connections) with a first-come queue before them."""

from collections import deque
from typing import Any

from .engine import Action


class Pool:
    """Hands out ``size`` slots; who finds none waits in a queue of at most ``queue_limit``, else is turned away.

    The size may change at any time. Growing starts queued work at once. Shrinking lets running work finish: the
    slots above the new size are withdrawn as they are given back, and until then ``in_use`` exceeds ``size``.
    """

    __slots__ = ("_waiting", "in_use", "queue_limit", "size", "turned_away")

    def __init__(self, size: int, queue_limit: int) -> None:
        if size < 1 or queue_limit < 0:
            raise ValueError(f"build a pool: size must be >= 1, queue_limit >= 0; got {size}, {queue_limit}")
        self.size = size
        self.queue_limit = queue_limit
        self.in_use = 0
        self.turned_away = 0
        self._waiting: deque[tuple[Action, Any]] = deque()

    @property
    def queued(self) -> int:
        return len(self._waiting)

    def acquire(self, granted: Action, argument: Any) -> bool:
        """Runs ``granted(argument)`` once a slot is held, now or later; False when the queue is full."""
        if self.in_use < self.size:
            self.in_use += 1
            granted(argument)
        elif len(self._waiting) < self.queue_limit:
            self._waiting.append((granted, argument))
        else:
            self.turned_away += 1
            return False
        return True

    def release(self) -> None:
        """Gives a slot back: to the first in the queue, unless the pool has shrunk below what is in use."""
        if self._waiting and self.in_use <= self.size:
            granted, argument = self._waiting.popleft()
            granted(argument)
        else:
            self.in_use -= 1

    def resize(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"resize a pool to {size}: must be >= 1")
        self.size = size
        while self._waiting and self.in_use < size:
            self.in_use += 1
            granted, argument = self._waiting.popleft()
            granted(argument)
