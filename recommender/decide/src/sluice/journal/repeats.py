"""Reports that are told again: by their id and who told them, among the newest of the shard.

What is remembered is a function of the log: a report is a repeat where its id stands among the `REMEMBERED` offsets
before it. A decider that takes the shard reads those again, and so drops what the one before would have dropped.
"""

from __future__ import annotations

from typing import NamedTuple

from sluice.journal.codec import Sender

# A caller tries again for minutes. 20,000 reports are 0.2 s of reading, and as many writes of actuators.
REMEMBERED = 20_000


class _Told(NamedTuple):
    """offset: where it was told last. received_ns: when it was told first, Unix time."""

    offset: int
    received_ns: int


class Repeats:
    def __init__(self) -> None:
        self._told: dict[tuple[str, str], _Told] = {}
        """By id and caller, in the order of their offsets."""

    def report(self, offset: int, sender: Sender) -> bool:
        """Whether it was told before. To be called with each, in the order of the log. Without an id each counts."""
        self._forget(offset - REMEMBERED)
        if not sender.request_id:
            return False
        key = sender.request_id, sender.by
        before = self._told.pop(key, None)
        self._told[key] = _Told(offset, sender.received_ns if before is None else before.received_ns)
        return before is not None

    def size(self, sender: Sender) -> bool:
        """Whether a size came with a report that had been told before: then it is no news of the size.

        The two are in different topics, so either may be read first: a size that came with the first one has its time.
        """
        told = self._told.get((sender.request_id, sender.by)) if sender.request_id else None
        return told is not None and told.received_ns != sender.received_ns

    def _forget(self, before: int) -> None:
        while self._told:
            oldest = next(iter(self._told))
            if self._told[oldest].offset >= before:
                return
            del self._told[oldest]
