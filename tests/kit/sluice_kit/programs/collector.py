"""A collector of its own for tests: the one that the local stack runs, with its configuration, on free ports."""

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.servers.kafka import Kafka
from stack.settings import REPOSITORY

BINARY = REPOSITORY / ".cache/bin/sluice-collector"
CONFIG = REPOSITORY / "collector/config/local.yaml"


@contextmanager
def collector(broker: Kafka, cores: Iterable[int], folder: Path) -> Iterator[str]:
    """Runs it on `cores` only, with topics of its own on the broker; gives HOST:PORT of OTLP over gRPC."""
    for name in ("otlp_spans", "otlp_metrics"):
        broker.topic(name, like=name)
    grpc, http, health, metrics = free_ports(4)
    environment = os.environ | {
        "SLUICE_KAFKA": broker.bootstrap,
        "SLUICE_OTLP_GRPC": f"127.0.0.1:{grpc}",
        "SLUICE_OTLP_HTTP": f"127.0.0.1:{http}",
        "SLUICE_COLLECTOR_HEALTH": f"127.0.0.1:{health}",
        "SLUICE_PORT_COLLECTOR_METRICS": str(metrics),
        "SLUICE_STATE": str(folder),
    }
    command = pinned(cores, [BINARY, "--config", CONFIG])
    with running("collector", command, lambda: _listens(grpc), folder / "collector.log", 60, environment):
        yield f"127.0.0.1:{grpc}"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
