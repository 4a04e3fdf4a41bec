"""Builds the decider's process from its parts, and turns signals into reload and shutdown."""

from __future__ import annotations

import logging
import os
import platform
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sluice.clickhouse.connection import connection
from sluice.config import Config, ConfigError, load
from sluice.decider.products import codec, products
from sluice.engine.codec import DeciderShards
from sluice.engine.counts import EngineMetrics
from sluice.engine.loop import Loop
from sluice.engine.pages import Pages
from sluice.fast.garbage import search_rarely
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.kafka_settings import from_environment
from sluice.journal.shard import Identity
from sluice.model.problems import Problems
from sluice.pools.learned.learners import Learners
from sluice.pools.period.history import read_history
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.spread import Spread
from sluice.pools.period.workers import Workers
from sluice.pools.windows import Collector
from sluice.subsets.product import SubsetResources
from sluice.subsets.reader.reader import SubsetReader
from sluice.tuning.product import TuningResources
from sluice.tuning.reader.reader import TrialReader

if TYPE_CHECKING:
    from sluice.engine.otlp import Push

log = logging.getLogger(__name__)

END_S = 5.0
OTLP = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


def now_ms() -> int:
    return time.time_ns() // 10**6


class Process:
    """The decider from start to SIGTERM. Raises AddressError, UrlError and KafkaSettingsError for its environment."""

    def __init__(self, path: Path, config: Config, environment: Mapping[str, str]) -> None:
        self._path = path
        counts = EngineMetrics()
        address = environment.get("SLUICE_DECIDER") or "127.0.0.1:8092"
        self._pages = Pages(address, counts.registry, lambda: (now_ms() - counts.looked_ms) / 1e3)
        search_rarely()
        kafka = from_environment(environment)
        names = kafka.journal
        name = f"{platform.node()}-{os.getpid()}"
        self._broker = KafkaBroker(kafka.brokers, names, f"sluice-decider-{name}", kafka.properties)
        me = Identity(name, len(config.groups), config.generation)
        self._shards = DeciderShards(self._broker, names, me, codec())
        problems = Problems(counts.failed)
        # Connections of their own, since they read in parallel to control periods.
        subsets = SubsetResources(SubsetReader(connection(environment, lambda: None)))
        tuning = TuningResources(TrialReader(connection(environment, lambda: None)))
        spread = Spread(None if config.processes == "auto" else config.processes)
        pools = PoolResources(Workers(), spread, problems, self._shards.alive, Learners(problems))
        reader = connection(environment, self._shards.alive)
        collector, history = lambda: Collector(reader), lambda: read_history(reader)
        self._products = products(collector, pools, subsets, tuning, history, counts.registry)
        for product in self._products:
            product.start(config)
        self._loop = Loop(config, self._shards, self._products, now_ms, problems, counts)
        self._push = _push(counts, environment)
        self._stop, self._wake = threading.Event(), threading.Event()
        self._reload: Config | None = None
        counts.looked(now_ms(), 0)
        log.info("deciding %d pools of %s, health at %s", len(config.pools), path, address)

    def run(self) -> None:
        """Runs until SIGTERM or SIGINT, then releases the shards."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        signal.signal(signal.SIGHUP, lambda *_: self.reload())
        self._pages.start()
        loop = threading.Thread(target=self._decide, name="decide", daemon=True)
        loop.start()
        self._stop.wait()
        log.info("stopping")
        loop.join(END_S)
        if loop.is_alive():
            log.error("a period did not end in time: other deciders take its shards when the group's session ends")
        for product in self._products:
            product.close()
        self._pages.close()
        if self._push is not None:
            self._push.close()

    def reload(self) -> None:
        """Reads the file again. Logs an error and keeps the old configuration for an illegal or older file."""
        try:
            config = load(self._path)
        except ConfigError as cause:
            log.error("reload kept the old configuration: %s", cause)
            return
        if config.generation < self._loop.config.generation:
            log.error("reload kept the old configuration: generation %d is older", config.generation)
            return
        self._loop.next_config = config
        log.info("reloaded %s: %d pools", self._path, len(config.pools))
        self._wake.set()

    def _decide(self) -> None:
        self._loop.run(self._stop, self._wake)
        self._shards.close()
        self._broker.close()

    def _end(self) -> None:
        self._stop.set()
        self._wake.set()


def _push(counts: EngineMetrics, environment: Mapping[str, str]) -> Push | None:
    if not any(environment.get(name) for name in OTLP):
        return None
    # 11 MB that few deciders need.
    from sluice.engine.otlp import Push

    return Push(counts.registry, environment)
