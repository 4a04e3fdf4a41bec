"""The decider's command line."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click

from sluice.clickhouse.connection import UrlError
from sluice.config import ConfigError, load
from sluice.control.pages import AddressError
from sluice.control.process import Process
from sluice.journal.kafka_settings import KafkaSettingsError


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "path", required=True, type=click.Path(path_type=Path), help="SLOs and pools, a YAML file.")
@click.option("--check", is_flag=True, help="Validate the file and exit: 0 when it is legal, 2 when not.")
def main(path: Path, check: bool) -> None:
    """Decides pool sizes from the windows in ClickHouse and writes them into the log, which sluice-server serves.

    \b
    SLUICE_CLICKHOUSE    the database (http://127.0.0.1:8123), read as sluice_reader
                         with SLUICE_CLICKHOUSE_READER_PASSWORD
    SLUICE_CLICKHOUSE_CA  PEM file of who signed its certificate; SLUICE_CLICKHOUSE_DATABASE
                         (sluice), SLUICE_CLICKHOUSE_READER (sluice_reader): other names
    SLUICE_KAFKA         the log's broker, or several with commas between (127.0.0.1:9092)
    SLUICE_KAFKA_SETTINGS  TLS, SASL, properties and names of topics: a file as collector/kafka.toml
    SLUICE_TOPIC_PREFIX  before the names of its topics (sluice_)
    SLUICE_DECIDER       where /healthz and /metrics are, on loopback (127.0.0.1:8092)
    OTEL_EXPORTER_OTLP_ENDPOINT  sends the metrics by OTLP too, as all OTEL_EXPORTER_OTLP_* variables say

    Several may run on one file: they share its groups of pools. SIGHUP reads it again; SIGTERM ends.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        config = load(path)
        if check:
            click.echo(f"{path}: {len(config.pools)} pools, {len(config.slos)} SLOs, legal")
            return
        Process(path, config, os.environ).run()
    except (ConfigError, AddressError, UrlError, KafkaSettingsError) as cause:
        click.echo(cause, err=True)
        sys.exit(2)
