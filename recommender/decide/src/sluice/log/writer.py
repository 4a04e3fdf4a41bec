"""Records on their way to a store: of each the newest, written by one thread in batches."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from sluice.control.problems import Problems
from sluice.log.record import Ref, value_of
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.state_message import StateError

BATCH = 1_000
# Wait between tries: doubled from the first to the last, each times a random factor of 0.5..1.5.
FIRST_WAIT_S, LAST_WAIT_S = 0.2, 10.0
STOP_S = 5.0

Send = Callable[[Mapping[str, bytes]], set[str]]
"""Stores values by name, and returns the names that are stored. Raises when it is sure of none of them."""


class Writer:
    """A store that is away stops nobody: `put` never waits. A newer record takes the place of one that still waits, so
    that never more than two wait for a pool, and none is dropped."""

    def __init__(self, send: Send, store: str) -> None:
        self._send, self._store = send, store
        self._waiting: dict[Ref, PoolState] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._problems = Problems()
        self.illegal = self.failures = 0
        self._thread = threading.Thread(target=self._run, name=f"writer of {store}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, records: Iterable[tuple[Ref, PoolState]]) -> None:
        with self._changed:
            self._waiting.update(records)
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        with self._changed:
            return len(self._waiting)

    def flush(self, timeout_s: float) -> bool:
        """Waits until all is written, at most `timeout_s`; False when some is not. Does not wait before `start`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout_s if self._thread.is_alive() else 0.0)

    def stop(self) -> None:
        """Ends the thread once `send` returns; what waits is not written. Safe before `start`."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    def failed(self, cause: Exception) -> None:
        """Says and counts that nothing can be written now; also for a `Send` that has not returned yet."""
        self.failures += 1
        self._problems.failed(f"write to {self._store}", cause)

    def _run(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if self._closing:
                    return
                batch = dict(islice(self._waiting.items(), BATCH))
            if self._write(batch):
                wait_s = FIRST_WAIT_S
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._closing, wait_s * random.uniform(0.5, 1.5))
            wait_s = min(2 * wait_s, LAST_WAIT_S)

    def _write(self, batch: dict[Ref, PoolState]) -> bool:
        """True when nothing of it is left to be written."""
        values = {ref: value for ref, state in batch.items() if (value := self._encoded(ref, state)) is not None}
        stored: set[str] = set()
        try:
            stored = self._send({str(ref): value for ref, value in values.items()}) if values else set()
        except Exception as cause:
            self.failed(cause)
        done = [ref for ref in batch if ref not in values or str(ref) in stored]
        with self._changed:
            for ref in done:
                # A newer one may wait in its place.
                if self._waiting.get(ref) is batch[ref]:
                    del self._waiting[ref]
            self._changed.notify_all()
        if len(done) == len(batch):
            self._problems.succeeded(f"write to {self._store}")
            self.failures = 0
        return len(done) == len(batch)

    def _encoded(self, ref: Ref, state: PoolState) -> bytes | None:
        try:
            value = value_of(ref, state)
        except StateError as cause:
            self.illegal += 1
            self._problems.failed(f"record {ref}", cause)
            return None
        self._problems.succeeded(f"record {ref}")
        return value
