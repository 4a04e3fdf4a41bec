"""`python -m sluice.serve --config FILE`: the recommender."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click

from sluice.config import ConfigError, load
from sluice.control.clickhouse import UrlError, connections
from sluice.log.kafka import TOPIC, KafkaStateLog
from sluice.serve.access import Access, AccessError
from sluice.serve.process import KAFKA, Process
from sluice.serve.server import AddressError


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "path", required=True, type=click.Path(path_type=Path), help="SLOs and pools, a YAML file.")
@click.option("--check", is_flag=True, help="Validate the file and exit: 0 when it is legal, 2 when not.")
def main(path: Path, check: bool) -> None:
    """Recommends pool sizes from the windows in ClickHouse and serves them over gRPC.

    SLUICE_RECOMMENDER is the address to listen on (127.0.0.1:50051), SLUICE_CLICKHOUSE the database
    (http://127.0.0.1:8123), which is read as sluice_reader (SLUICE_CLICKHOUSE_READER_PASSWORD) and written as
    SLUICE_CLICKHOUSE_USER (default) with SLUICE_CLICKHOUSE_PASSWORD. SLUICE_KAFKA (127.0.0.1:9092) holds the topic
    SLUICE_STATE_TOPIC (sluice_state), in which what is known of each pool outlives the process. SLUICE_TLS_CERT and
    SLUICE_TLS_KEY (PEM files) turn TLS on, SLUICE_TOKENS (a file, one token a line) asks callers for a token; without
    both only a loopback address is legal. SIGHUP reads the file of SLOs and pools again; SIGTERM ends.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        config = load(path)
        if check:
            click.echo(f"{path}: {len(config.pools)} pools, {len(config.slos)} SLOs, legal")
            return
        address = os.environ.get("SLUICE_RECOMMENDER", "127.0.0.1:50051")
        topic = os.environ.get("SLUICE_STATE_TOPIC") or TOPIC
        states = KafkaStateLog(os.environ.get("SLUICE_KAFKA") or KAFKA, topic)
        access = Access.from_environment(os.environ)
        Process(path, config, address, connections(os.environ), access, states).run()
    except (ConfigError, AccessError, AddressError, UrlError) as cause:
        click.echo(cause, err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
