"""Rows on their way to ClickHouse: a bounded queue that one thread empties in batches."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Sequence

from sluice.control.problems import Problems

CAPACITY = 10_000
BATCH = 1_000
# Wait between tries: doubled from the first to the last, each times a random factor of 0.5..1.5.
FIRST_WAIT_S, LAST_WAIT_S = 0.2, 30.0

Row = Sequence[object]
Insert = Callable[[str, list[Row]], None]
"""Writes rows to a table, whole or not at all; raises when it cannot."""


class Outbox:
    """A database that is down stops nobody: `put` never waits, and drops the oldest row when full.

    Retries can write a batch twice when its acknowledgement was lost; both tables are logs, where a repeated row
    does not change any answer.
    """

    def __init__(self, insert: Insert, capacity: int = CAPACITY) -> None:
        self._insert = insert
        self._rows: deque[tuple[str, Row]] = deque()
        self._capacity = capacity
        self._changed = threading.Condition()
        self._closing = False
        self._problems = Problems()
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, table: str, rows: list[Row]) -> None:
        with self._changed:
            self._rows.extend((table, row) for row in rows)
            while len(self._rows) > self._capacity:
                self._rows.popleft()
                self.dropped += 1
            self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Waits until all rows are written, at most `timeout_s`; False when some are not."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._rows, timeout_s)

    def close(self, timeout_s: float) -> bool:
        """As `flush`, and ends the thread. Safe before `start`."""
        written = self.flush(timeout_s) if self._thread.is_alive() else not self._rows
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return written

    def _run(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._rows or self._closing)
                if self._closing:
                    return
                table = self._rows[0][0]
                dropped = self.dropped
                batch = _head(self._rows, table)
            try:
                self._insert(table, batch)
            except Exception as cause:
                self._problems.failed(f"write to {table}", cause)
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, wait_s * random.uniform(0.5, 1.5))
                wait_s = min(2 * wait_s, LAST_WAIT_S)
                continue
            wait_s = FIRST_WAIT_S
            self._problems.succeeded(f"write to {table}")
            with self._changed:
                # Rows that were dropped meanwhile left from the head, where the batch was.
                for _ in range(len(batch) - (self.dropped - dropped)):
                    self._rows.popleft()
                self._changed.notify_all()


def _head(rows: deque[tuple[str, Row]], table: str) -> list[Row]:
    """Rows of `table` at the head of the queue, at most a batch."""
    batch: list[Row] = []
    for name, row in rows:
        if name != table or len(batch) == BATCH:
            break
        batch.append(row)
    return batch
