"""The critical services of all root operations, read and ranked every 30 s beside the control periods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future

from sluice.clickhouse.database import Database
from sluice.model.problems import Problems
from sluice.pools.critical.holds_up import HoldsUp, holds_up
from sluice.pools.critical.localizations import SQL, Localizations, localizations
from sluice.pools.critical.record import record_of
from sluice.pools.v1.log_pb2 import CriticalServices

EVERY_MS, WINDOW_S = 30_000, 60
ACTIVITY = "critical services"


def reader(database: Database) -> Callable[[], Localizations]:
    """Reads the newest minute. database: not that of the periods, since it reads in parallel to them."""
    parameters = {"service": "", "operation": "", "seconds": WINDOW_S}
    return lambda: localizations(zip(*database.columns(SQL, parameters), strict=True))


class CriticalPaths:
    """After a failed reading, the last localizations stay. Shared by the shards of a decider."""

    def __init__(self, read: Callable[[], Localizations] | None = None) -> None:
        """read: None: nothing is known."""
        self._read = read
        self._reading: Future[Localizations] | None = None
        self._turn = 0
        self._record: CriticalServices | None = None
        self.newest: Localizations = {}
        self.held: Mapping[str, tuple[HoldsUp, ...]] | None = None
        """By service; None while no operation has enough traces."""

    def look(self, now_ms: int, background: Executor, problems: Problems) -> None:
        """Begins a reading when it is due, and takes one that ended. now_ms: Unix time."""
        if self._read is None:
            return
        turn = now_ms // EVERY_MS
        if self._reading is None and turn != self._turn:
            self._turn = turn
            self._reading = background.submit(self._read)
        if self._reading is not None and self._reading.done():
            reading, self._reading = self._reading, None
            problems.result(ACTIVITY, lambda: self._take(reading.result()), None)

    def unwritten(self) -> CriticalServices | None:
        """The record of a new reading, once: whichever shard asks first writes it. If its commit fails, the next
        reading's record follows."""
        record, self._record = self._record, None
        return record

    def _take(self, by_root: Localizations) -> None:
        self.newest, self.held = by_root, holds_up(by_root)
        record = record_of(by_root, EVERY_MS * self._turn)
        self._record = record if record.services else None
