"""One partition in memory, by Kafka's rules.

Records of an open transaction have offsets and cannot be read. The marker of its end takes an offset too. The last
stable offset is the start of the oldest open transaction. Below it, compaction keeps the newest committed record of
each key, and leaves gaps.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from sluice.journal.broker import Record


@dataclass(frozen=True)
class _Entry:
    """by: its transaction; None without one. key: None for a transaction marker."""

    offset: int
    by: tuple[str, int] | None
    key: str | None
    value: bytes | None = None


@dataclass(eq=False)
class Partition:
    topic: str
    end: int = 0
    """The high watermark."""
    _entries: list[_Entry] = field(default_factory=list)
    _open: dict[tuple[str, int], int] = field(default_factory=dict)
    _aborted: set[tuple[str, int]] = field(default_factory=set)

    def append(self, key: str | None, value: bytes | None, by: tuple[str, int] | None = None) -> int:
        """Appends a record and returns its offset. by: the transaction's writer, and a number of its own."""
        if by is not None and key is not None:
            self._open.setdefault(by, self.end)
        self._entries.append(_Entry(self.end, by, key, value))
        self.end += 1
        return self.end - 1

    def decide(self, by: tuple[str, int], committed: bool) -> None:
        """Ends a transaction; does nothing where it wrote nothing here."""
        if self._open.pop(by, None) is None:
            return
        if not committed:
            self._aborted.add(by)
        self.append(None, None, by)

    @property
    def stable(self) -> int:
        return min(self._open.values(), default=self.end)

    def committed(self, since: int) -> list[Record]:
        first = bisect_left(self._entries, since, key=lambda entry: entry.offset)
        return [
            Record(self.topic, entry.offset, entry.key, entry.value)
            for entry in self._entries[first:]
            if entry.offset < self.stable and entry.key is not None and entry.by not in self._aborted
        ]

    def compact(self, offset: int) -> None:
        """Compacts below `offset`, as far as that is stable. The last record stays, as in Kafka's active segment."""
        until = min(offset, self.stable, self.end - 1)
        newest = {record.key: record.offset for record in self.committed(0) if record.offset < until}
        stay = set(newest.values())
        self._entries = [entry for entry in self._entries if entry.offset >= until or entry.offset in stay]
