"""Wires the parts into one process, and turns signals into reload and shutdown."""

from __future__ import annotations

import logging
import signal
import threading
import time
from pathlib import Path

from sluice.collect import Collector
from sluice.config import Config, ConfigError, load
from sluice.control.clickhouse import ClickHouse
from sluice.control.garbage import search_rarely
from sluice.control.history import COLUMNS, History
from sluice.control.loop import ControlLoop
from sluice.control.pauses import Pauses
from sluice.control.scalings import Scalings
from sluice.control.sizes import Sizes
from sluice.control.spread import Spread
from sluice.control.store import Store
from sluice.control.workers import Workers
from sluice.log.kafka import KafkaStateLog
from sluice.pools.estimate import libraries
from sluice.pools.estimate.belief.prepare import prepare
from sluice.serve.access import Access
from sluice.serve.outbox import Outbox
from sluice.serve.server import Server
from sluice.serve.service import PoolSizeService

log = logging.getLogger(__name__)

FLUSH_S = 3.0
# HOST:PORT of the log that the states of pools are kept in, or several with commas between.
KAFKA = "127.0.0.1:9092"


def now_ms() -> int:
    return time.time_ns() // 10**6


class Process:
    """The recommender from start to SIGTERM. database: reader and writer. AddressError: `address` cannot be used."""

    def __init__(
        self,
        path: Path,
        config: Config,
        address: str,
        database: tuple[ClickHouse, ClickHouse],
        access: Access,
        states: KafkaStateLog,
    ) -> None:
        libraries.load()
        prepare()
        search_rarely()
        self._path = path
        reader, writer = database
        self._outbox = Outbox(lambda table, rows: writer.insert(table, COLUMNS[table], rows))
        history = History(reader, self._outbox)
        self._store, sizes, pauses, scalings = Store(), Sizes(), Pauses(), Scalings()
        self._workers = Workers()
        self._spread = Spread(None if config.processes == "auto" else config.processes)
        self._spread.start(len(config.pools))
        self._stop, self._wake = threading.Event(), threading.Event()
        self._states = states
        self._loop = ControlLoop(
            config,
            Collector(reader),
            history,
            states,
            self._store,
            sizes,
            now_ms,
            pauses,
            scalings,
            self._workers,
            self._spread,
        )
        service = PoolSizeService(
            self._store, sizes, history, now_ms, pauses=pauses, wake=self._wake.set, scalings=scalings
        )
        self._server = Server(service, address, access)
        self._access = access
        self._address = address

    def run(self) -> None:
        """Returns after SIGTERM or SIGINT, when calls have ended and rows are written."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        signal.signal(signal.SIGHUP, lambda *_: self.reload())
        self._outbox.start()
        self._states.start()
        self._server.start()
        log.info("listening on %s for %d pools, %s", self._address, len(self._loop.config.pools), self._access)
        loop = threading.Thread(target=self._loop.run, args=(self._stop, self._wake), name="control", daemon=True)
        loop.start()
        while not self._stop.wait(0.2):
            self._server.serving(self._store.ready)
        log.info("stopping")
        self._server.stop()
        loop.join(FLUSH_S)
        self._workers.close()
        self._spread.close()
        if not self._outbox.close(FLUSH_S):
            log.error("rows were not written before the end: ClickHouse did not take them")
        if not self._states.close(FLUSH_S):
            log.error("states were not written before the end: Kafka did not take them")

    def reload(self) -> None:
        """Reads the file again; one that is not legal changes nothing, and the log says so."""
        try:
            config = load(self._path)
        except ConfigError as cause:
            log.error("reload kept the old configuration: %s", cause)
            return
        self._loop.config = config
        log.info("reloaded %s: %d pools", self._path, len(config.pools))
        self._wake.set()

    def _end(self) -> None:
        self._stop.set()
        self._wake.set()
