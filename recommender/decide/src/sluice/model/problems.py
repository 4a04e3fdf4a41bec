"""Logs a lasting problem once, not once per period."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger(__name__)

Value = TypeVar("Value")


class Problems:
    """Logs each activity's problem when it begins or changes its cause, and its end."""

    def __init__(self, count: Callable[[str], None] = lambda source: None) -> None:
        """count: called at each failure with the activity's kind: "decision" for "decision of shop/server"."""
        self._count = count
        self._causes: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def result(self, activity: str, read: Callable[[], Value], otherwise: Value) -> Value:
        """The result of `read`, and `otherwise` where it raises an error, which is logged."""
        try:
            value = read()
        except Exception as cause:
            self.failed(activity, cause)
            return otherwise
        self.succeeded(activity)
        return value

    def failed(self, activity: str, cause: Exception) -> None:
        self._count(activity.partition(" of ")[0])
        self.counts[activity] = self.counts.get(activity, 0) + 1
        # Only the type and the first 60 characters: messages end in ports, query ids and times that always differ.
        text = f"{type(cause).__name__}: {str(cause)[:60]}"
        if self._causes.get(activity) != text:
            self._causes[activity] = text
            log.error("%s failed, going on: %s: %s", activity, type(cause).__name__, cause)

    def succeeded(self, activity: str) -> None:
        if self._causes.pop(activity, None) is not None:
            log.info("%s works again after %d failures", activity, self.counts.pop(activity, 0))
