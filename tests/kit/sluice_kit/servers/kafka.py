"""A Kafka broker of its own for tests: the one that the local stack runs, with its configuration, on free ports."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from stack.configs import QUICK, cluster_id, render
from stack.layout import CACHE, LOCAL, java_home
from stack.settings import REPOSITORY

JARS = CACHE / "kafka/lib"


@dataclass(frozen=True)
class Broker:
    """A broker that is up. folder: for files of ours."""

    bootstrap: str
    folder: Path

    def topic(self, name: str, like: str) -> str:
        """Creates `name` with the partitions and configuration of `like` in collector/topics.yaml; returns `name`."""
        _create(self.bootstrap, self.folder / f"{name}.yaml", {name: _topics()[like]})
        return name

    def log(self, prefix: str, shards: int) -> None:
        """Creates the topics between deciders and servers, with `prefix` for sluice_ and so many partitions."""
        create_log(self.bootstrap, self.folder, prefix, shards)


@dataclass(frozen=True)
class Kafka(Broker):
    """A broker that this process started. `process`: for signals that stop it and let it go on, or kill it."""

    process: subprocess.Popen[bytes]

    @contextmanager
    def again(self) -> Iterator["Kafka"]:
        """Once it is killed: the same on the data that it left."""
        self.process.wait(20)
        with _broker(self.folder, int(self.bootstrap.rpartition(":")[2])) as broker:
            yield broker


def create_log(bootstrap: str, folder: Path, prefix: str, shards: int) -> None:
    """As `Broker.log`, on any broker; `folder` is for files of ours."""
    fixed = {name: about for name, about in _topics().items() if about.get("fixed")}
    named = {prefix + name.removeprefix("sluice_"): about | {"partitions": shards} for name, about in fixed.items()}
    _create(bootstrap, folder / f"{prefix}.yaml", named)


def _create(bootstrap: str, wanted: Path, topics: dict[str, dict[str, Any]]) -> None:
    wanted.write_text(yaml.safe_dump({"topics": topics}))
    words: list[str | Path] = [LOCAL / "kafka/topics.py", "--bootstrap", bootstrap, "--topics", wanted]
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, timeout=120)


def _topics() -> dict[str, dict[str, Any]]:
    topics: dict[str, dict[str, Any]] = yaml.safe_load((REPOSITORY / "collector/topics.yaml").read_text())["topics"]
    return topics


@contextmanager
def kafka(folder: Path) -> Iterator[Kafka]:
    """Runs the broker on data and logs in `folder`, without topics."""
    if not JARS.exists():
        raise FileNotFoundError(f"start Kafka: {JARS} is missing; `make setup` brings it")
    port, controller = free_ports(2)
    config = folder / "server.properties"
    names = {"host": "127.0.0.1", "kafka": str(port), "kafka_controller": str(controller), "data": str(folder)}
    config.write_text(render((LOCAL / "kafka/server.properties").read_text(), names))
    words: list[str | Path] = ["kafka.tools.StorageTool", "format", "--cluster-id", cluster_id(), "--config", config]
    subprocess.run([*_java(), *words], check=True, stdout=subprocess.DEVNULL, timeout=120)
    with _broker(folder, port) as broker:
        yield broker


@contextmanager
def _broker(folder: Path, port: int) -> Iterator[Kafka]:
    """On what is in `folder`."""

    def ready() -> bool:
        with socket.socket() as listener:
            return listener.connect_ex(("127.0.0.1", port)) == 0

    words = [*_java(), "kafka.Kafka", folder / "server.properties"]
    with running("Kafka", words, ready, folder / "process.log", limit_s=120) as process:
        yield Kafka(f"127.0.0.1:{port}", folder, process)


def _java() -> list[str | Path]:
    return [java_home() / "bin/java", "-Xms64m", "-Xmx256m", *QUICK, "-cp", f"{JARS}/*"]
