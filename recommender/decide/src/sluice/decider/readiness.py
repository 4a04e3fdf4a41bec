"""Whether the decider's neighbours are there: ClickHouse with the schema, Kafka with the journal's topics."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sluice.clickhouse.database import Database
from sluice.clickhouse.schema import lacking
from sluice.engine.health import Health

log = logging.getLogger(__name__)

# Between two checks: while a neighbour is missing, and else. A cause is logged again after LOG_S.
WAITING_S, READY_S, LOG_S = 2.0, 10.0, 30.0
# Of a cause: its first line, which may hold the text of a query.
LONGEST = 200


class Readiness:
    """Checks in a thread of its own, by its own connections, so that neither check waits for a period."""

    def __init__(self, database: Database, check_topics: Callable[[], None], health: Health) -> None:
        """check_topics: raises an error for a journal that cannot be read."""
        self._database, self._check_topics, self._health = database, check_topics, health
        self.schema = threading.Event()
        """Set once the schema is as needed."""
        self._logged: dict[str, tuple[str, float]] = {}
        for part in ("clickhouse", "schema", "kafka"):
            health.lacks(part, "not reached yet")

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            present = [self._check_schema(), self._check("kafka", self._topics)]
            stop.wait(READY_S if all(present) else WAITING_S)

    def _check_schema(self) -> bool:
        missing = ""

        def reached() -> str:
            nonlocal missing
            missing = lacking(self._database)
            return ""

        if not self._check("clickhouse", reached):
            return False
        if self._check("schema", lambda: missing):
            self.schema.set()
        return not missing

    def _topics(self) -> str:
        self._check_topics()
        return ""

    def _check(self, part: str, cause_of: Callable[[], str]) -> bool:
        """cause_of: the cause, "" for none; or raises it."""
        try:
            cause = cause_of()
        except Exception as error:
            cause = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:LONGEST]
        if cause:
            self._health.lacks(part, cause)
        else:
            self._health.has(part)
        self._log(part, cause)
        return not cause

    def _log(self, part: str, cause: str) -> None:
        last, at = self._logged.get(part, ("", 0.0))
        now = time.monotonic()
        if cause and (not last or now - at >= LOG_S):
            log.warning("waiting for %s: %s", part, cause)
            self._logged[part] = cause, now
        elif not cause and last:
            log.info("%s is ready", part)
            self._logged.pop(part)
