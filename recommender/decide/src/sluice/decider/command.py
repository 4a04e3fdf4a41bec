"""The decider's command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from sluice.clickhouse.connection import UrlError
from sluice.config import ConfigError
from sluice.decider import log
from sluice.decider.config_file import ConfigFile
from sluice.decider.process import Process
from sluice.decider.settings import OTHERS, SettingsError, settings
from sluice.engine.address import AddressError
from sluice.journal.kafka_settings import KafkaSettingsError


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "path", required=True, type=click.Path(path_type=Path), help="YAML file with SLOs and pools.")
@click.option("--check", is_flag=True, help="Validate the file and exit: 0 when it is legal, 2 when it is not.")
def main(path: Path, check: bool) -> None:
    """Decide pool sizes, and write them to the journal.

    The decider reads windows from ClickHouse. sluice-server serves the journal.

    \b
    SLUICE_CLICKHOUSE    the database (http://127.0.0.1:8123), read as sluice_reader
    SLUICE_CLICKHOUSE_READER_PASSWORD_FILE
                         file with that user's password
    SLUICE_CLICKHOUSE_CA  PEM file of the authority that signed its certificate
    SLUICE_CLICKHOUSE_DATABASE, SLUICE_CLICKHOUSE_READER
                         other names (sluice, sluice_reader)
    SLUICE_KAFKA         the journal's brokers, comma-separated (127.0.0.1:9092)
    SLUICE_KAFKA_PROPERTIES  file of librdkafka's properties (TLS, SASL), like recommender/kafka.properties
    SLUICE_TOPIC_PREFIX  prefix of the topics' names (sluice_)
    SLUICE_HEALTH        IP:PORT of /livez, /readyz and /metrics (127.0.0.1:8092)
    SLUICE_HEALTH_EXPOSE  true: SLUICE_HEALTH may be an address of the network
    SLUICE_SETTINGS      a file of NAME=VALUE lines with these variables; the environment goes before it
    OTEL_EXPORTER_OTLP_ENDPOINT  also exports the metrics by OTLP, as the OTEL_EXPORTER_OTLP_* variables set

    Several deciders may run on one file and share its groups of pools. SIGHUP reloads the file, as does a change of its
    content within 10 s; SIGTERM releases the shards and ends. It waits for ClickHouse, its schema and Kafka: /readyz
    names what is missing.

    \b
    Examples:
      python -m sluice.decider --config sluice.yaml --check
      python -m sluice.decider --config sluice.yaml
    """
    log.begin()
    file = ConfigFile(path)
    try:
        config = file.load()
        if check:
            click.echo(f"{path}: {config}, legal")
            return
        environment = settings(os.environ)
        # OpenTelemetry's exporter reads the process's environment.
        os.environ.update({name: value for name, value in environment.items() if name.startswith(OTHERS)})
        Process(file, config, environment).run()
    except (ConfigError, AddressError, UrlError, KafkaSettingsError, SettingsError) as cause:
        click.echo(cause, err=True)
        sys.exit(2)
