"""The critical services of all root operations, read and ranked every 30 s beside the control periods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from sluice.clickhouse.database import Database
from sluice.model.problems import Problems
from sluice.pools.critical.holds_up import HoldsUp, holds_up
from sluice.pools.critical.localizations import SQL, Localizations, localizations
from sluice.pools.critical.record import record_of
from sluice.pools.v1.log_pb2 import CriticalServices

EVERY_MS, WINDOW_S = 30_000, 60
ACTIVITY = "critical services"


def reader(database: Database) -> Callable[[], Localizations]:
    """Reads the newest minute. database: a connection of its own, since it reads in parallel to control periods."""
    parameters = {"service": "", "operation": "", "seconds": WINDOW_S}
    return lambda: localizations(zip(*database.columns(SQL, parameters), strict=True))


class CriticalPaths:
    """After a failed reading, the last localizations stay. Shared by the shards of a decider."""

    def __init__(self, read: Callable[[], Localizations] | None = None) -> None:
        """read: None: nothing is known."""
        self._read = read
        self._background = ThreadPoolExecutor(1, thread_name_prefix="critical")
        self._reading: Future[Localizations] | None = None
        self._turn = 0
        self._record: CriticalServices | None = None
        self.newest: Localizations = {}
        self.held: Mapping[str, tuple[HoldsUp, ...]] | None = None
        """By service; None while no operation has enough traces."""

    def look(self, now_ms: int, problems: Problems) -> None:
        """Takes a reading that ended, and begins the next one when it is due. now_ms: Unix time."""
        if self._read is None:
            return
        if self._reading is not None and self._reading.done():
            reading, self._reading = self._reading, None
            problems.result(ACTIVITY, lambda: self._take(reading.result()), None)
        turn = now_ms // EVERY_MS
        if self._reading is None and turn != self._turn:
            self._turn = turn
            self._reading = self._background.submit(self._read)

    def unwritten(self) -> CriticalServices | None:
        """The record of a new reading, once: whichever shard asks first writes it. If its commit fails, the next
        reading's record follows."""
        record, self._record = self._record, None
        return record

    def close(self) -> None:
        self._background.shutdown(wait=False, cancel_futures=True)

    def _take(self, by_root: Localizations) -> None:
        self.newest, self.held = by_root, holds_up(by_root)
        record = record_of(by_root, EVERY_MS * self._turn)
        self._record = record if record.services else None
