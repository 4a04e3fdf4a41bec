"""Detects repeated reports, by id and sender, among the shard's newest ones.

The memory is a function of the journal: a report is a repeat if its id occurs within the `REMEMBERED` offsets before
it. A decider that takes the shard reads those again, so it drops the same reports as the decider before.
"""

from __future__ import annotations

from typing import NamedTuple

from sluice.journal.codec import Sender

# Callers retry for minutes. 20,000 reports take 0.2 s to read, and are as many writes of actuators.
REMEMBERED = 20_000


class _Sent(NamedTuple):
    """offset: of the newest report. received_ns: of the first report, Unix time."""

    offset: int
    received_ns: int


class Repeats:
    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], _Sent] = {}
        """By id and sender, in the order of their offsets."""

    def report(self, offset: int, sender: Sender) -> bool:
        """Whether the report is a repeat; never without an id. To be called in the order of the journal."""
        self._forget(offset - REMEMBERED)
        if not sender.request_id:
            return False
        key = sender.request_id, sender.by
        last = self._sent.pop(key, None)
        self._sent[key] = _Sent(offset, sender.received_ns if last is None else last.received_ns)
        return last is not None

    def size(self, sender: Sender) -> bool:
        """Whether a size came with a repeated report; such a size is not new.

        The two are in different topics, so either may be read first. The size of the first report has its time.
        """
        report = self._sent.get((sender.request_id, sender.by)) if sender.request_id else None
        return report is not None and report.received_ns != sender.received_ns

    def _forget(self, offset: int) -> None:
        while self._sent:
            oldest = next(iter(self._sent))
            if self._sent[oldest].offset >= offset:
                return
            del self._sent[oldest]
