"""Builds the decider's process from its parts, and turns signals and changes of its file into reload and shutdown."""

from __future__ import annotations

import logging
import os
import platform
import signal
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sluice.clickhouse.connection import connection
from sluice.config import Config, ConfigError
from sluice.decider.config_file import ConfigFile
from sluice.decider.pipeline import PipelineMetrics
from sluice.decider.products import codec, products
from sluice.decider.readiness import Readiness
from sluice.decider.signals import Signals
from sluice.decider.watchdog import watch
from sluice.engine.address import health_address
from sluice.engine.codec import DeciderShards
from sluice.engine.counts import EngineMetrics
from sluice.engine.health import Health
from sluice.engine.loop import Loop
from sluice.engine.pages import Pages
from sluice.fast.garbage import search_rarely
from sluice.journal.acquisition import check_partitions
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.kafka_settings import from_environment
from sluice.journal.shard import Identity
from sluice.model.problems import Problems
from sluice.pools.period.critical_services import CriticalPaths
from sluice.pools.period.critical_services import reader as critical_reader
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

HEALTH = "127.0.0.1:8092"
# A period must end within END_S of SIGTERM; Kubernetes kills 30 s after it. The start compiles for some 20 s of CPU.
END_S, START_S = 20.0, 600.0
# How often the configuration file is read.
FOLLOW_S = 10.0
# How often the thread that waits for the schema looks.
WAIT_S = 0.2
OTLP = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


def now_ms() -> int:
    return time.time_ns() // 10**6


class Process:
    """The decider from start to SIGTERM. Raises AddressError, UrlError and KafkaSettingsError for its environment."""

    def __init__(self, file: ConfigFile, config: Config, environment: Mapping[str, str]) -> None:
        self._file, self._config = file, config
        self._counts, self._health = EngineMetrics(), Health()
        counts, address = self._counts, health_address(environment, HEALTH)
        self._pages = Pages(address, counts.registry, self._health)
        self._health.lacks("decider", "starting")
        search_rarely()
        kafka = from_environment(environment)
        names = kafka.journal
        name = f"{platform.node()}-{os.getpid()}"
        self._broker = KafkaBroker(kafka.brokers, names, f"sluice-decider-{name}", kafka.properties)
        me = Identity(name, len(config.groups), config.generation)
        self._shards = DeciderShards(self._broker, names, me, codec())
        # Not closed: its thread may ask until the process ends.
        readers = KafkaBroker(kafka.brokers, names, f"sluice-ready-{name}", kafka.properties)
        self._readiness = Readiness(
            connection(environment, lambda: None),
            lambda: check_partitions(readers, names, self._shards.membership.me.shards),
            self._health,
        )
        self._pipeline = PipelineMetrics(connection(environment, lambda: None), counts.registry, counts.failed)
        problems = Problems(counts.failed)
        # Connections of their own, since they read in parallel to control periods.
        subsets = SubsetResources(SubsetReader(connection(environment, lambda: None)))
        tuning = TuningResources(TrialReader(connection(environment, lambda: None)))
        spread = Spread(None if config.processes == "auto" else config.processes)
        pools = PoolResources(Workers(), spread, problems, self._alive)
        beside = connection(environment, lambda: None)
        pools.critical = CriticalPaths(critical_reader(beside))
        reader = connection(environment, self._alive)
        collector, history = lambda: Collector(reader, beside), lambda: read_history(reader)
        self._products = products(collector, pools, subsets, tuning, history, counts.registry)
        self._loop = Loop(config, self._shards, self._products, now_ms, problems, counts, self._health.progress)
        self._push = _push(counts, environment)
        self._stop, self._wake = threading.Event(), threading.Event()
        log.info("deciding by %s (%s), health at %s", file.path, config, address)

    def run(self) -> None:
        """Runs until SIGTERM or SIGINT, then releases the shards."""
        signals = Signals((signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        self._pages.start()
        self._health.progress(START_S)
        readiness = threading.Thread(target=self._readiness.run, args=(self._stop,), name="readiness", daemon=True)
        readiness.start()
        threading.Thread(target=self._pipeline.run, args=(self._stop,), name="pipeline", daemon=True).start()
        for product in self._products:
            product.start(self._config)
        self._health.progress()
        loop = threading.Thread(target=self._decide, name="decide", daemon=True)
        loop.start()
        threading.Thread(target=watch, args=(self._health,), name="watchdog", daemon=True).start()
        self._follow(signals)
        log.info("stopping")
        self._health.lacks("decider", "stopping")
        self._stop.set()
        self._wake.set()
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
            config = self._file.load()
            newest = (self._loop.next_config or self._loop.config).generation
            if config.generation < newest:
                raise ConfigError(f"generation {config.generation} is older; legal: {newest} or more")
        except ConfigError as cause:
            log.error("reload kept the old configuration: %s", "; ".join(str(cause).splitlines()))
            self._counts.configured(False)
            return
        self._counts.configured(True)
        self._loop.next_config = config
        log.info("reloaded %s: %s", self._file.path, config)
        self._wake.set()

    def _follow(self, signals: Signals) -> None:
        """Until SIGTERM or SIGINT. Reloads after SIGHUP and when the file's content has changed."""
        while (number := signals.next(FOLLOW_S)) in (None, signal.SIGHUP):
            if number == signal.SIGHUP or self._file.changed():
                self.reload()

    def _decide(self) -> None:
        while not self._readiness.schema.wait(WAIT_S) and not self._stop.is_set():
            self._health.progress()
        if not self._stop.is_set():
            self._health.has("decider")
            self._loop.run(self._stop, self._wake)
        self._shards.close()
        self._broker.close()

    def _alive(self) -> None:
        """Progress within a period."""
        self._health.progress()
        self._shards.alive()


def _push(counts: EngineMetrics, environment: Mapping[str, str]) -> Push | None:
    if not any(environment.get(name) for name in OTLP):
        return None
    # 11 MB that few deciders need.
    from sluice.engine.otlp import Push

    return Push(counts.registry, environment)
