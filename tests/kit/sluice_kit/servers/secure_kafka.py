"""Two Kafka brokers that speak TLS alone, ask clients for certificates and passwords (SCRAM), on free ports."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from sluice.journal.kafka_settings import KafkaSettings, from_environment
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.waiting import until
from stack import toolchain
from stack.configs import QUICK, cluster_id
from stack.layout import CACHE, LOCAL, java_home
from stack.settings import REPOSITORY

JARS = CACHE / "kafka/lib"
USER, PASSWORD = "sluice", "of-a-secured-test"
PREFIX = "secured."

SERVER = """
process.roles={roles}
node.id={number}
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=CLIENT://127.0.0.1:{client},BETWEEN://127.0.0.1:{between}{own}
advertised.listeners=CLIENT://127.0.0.1:{client},BETWEEN://127.0.0.1:{between}
listener.security.protocol.map=CLIENT:SASL_SSL,BETWEEN:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BETWEEN
controller.listener.names=CONTROLLER
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.client.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
ssl.client.auth=required
log.dirs={data}
auto.create.topics.enable=false
message.max.bytes=8388608
replica.fetch.max.bytes=8388608
offsets.topic.replication.factor=2
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=2
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
"""


NAMES = {
    "SLUICE_TOPIC_PREFIX": PREFIX,
    "SLUICE_SPANS_TOPIC": "traces",
    "SLUICE_METRICS_TOPIC": f"{PREFIX}otlp_metrics",
    "SLUICE_DEAD_LETTER_TOPIC": f"{PREFIX}otlp_dead_letter",
}
LIBRDKAFKA = f"""
security.protocol=SASL_SSL
ssl.ca.location={{folder}}/ca.pem
ssl.certificate.location={{folder}}/certificate.pem
ssl.key.location={{folder}}/key.pem
sasl.mechanism=SCRAM-SHA-512
sasl.username={USER}
sasl.password={PASSWORD}
"""
JAVA = f"""
security.protocol=SASL_SSL
ssl.truststore.type=PEM
ssl.truststore.location={{folder}}/ca.pem
ssl.keystore.type=PEM
ssl.keystore.location={{folder}}/both.pem
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.flink.kafka.shaded.org.apache.kafka.common.security.scram.ScramLoginModule required \\
  username="{USER}" password="{PASSWORD}";
metadata.max.age.ms=5000
"""


@dataclass(frozen=True)
class SecureKafka:
    """folder: of the clients' files. bootstrap: of both. brokers: the processes; the second is no controller."""

    folder: Path
    bootstrap: str
    brokers: tuple["subprocess.Popen[bytes]", "subprocess.Popen[bytes]"]

    @property
    def environment(self) -> dict[str, str]:
        """Of all programs but the jobs and the collector."""
        properties = str(self.folder / "librdkafka.properties")
        return {"SLUICE_KAFKA": self.bootstrap, "SLUICE_KAFKA_PROPERTIES": properties, **NAMES}

    @property
    def jobs(self) -> dict[str, str]:
        return self.environment | {"SLUICE_KAFKA_PROPERTIES": str(self.folder / "java.properties")}

    def read(self) -> KafkaSettings:
        return from_environment(self.environment)

    def create(self, folder: Path) -> None:
        """All topics of collector/topics.yaml, each on both brokers."""
        words: list[str | Path] = [LOCAL / "kafka/topics.py", "--topics", REPOSITORY / "collector/topics.yaml"]
        command = [sys.executable, *words, "--replication-factor", "2"]
        done = subprocess.run(
            command, env=os.environ | self.environment, capture_output=True, text=True, timeout=120, cwd=folder
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def secure_kafka(folder: Path) -> Iterator[SecureKafka]:
    certificates(folder)
    controller, *ports = free_ports(5)
    keystore = folder / "both.pem"
    keystore.write_text((folder / "key.pem").read_text() + (folder / "certificate.pem").read_text())
    common = {"controller": controller, "keystore": keystore, "ca": folder / "ca.pem"}
    cluster = cluster_id()
    configs = []
    for number, (client, between) in enumerate([ports[:2], ports[2:]], start=1):
        own = f",CONTROLLER://127.0.0.1:{controller}" if number == 1 else ""
        roles = "broker,controller" if number == 1 else "broker"
        more = {"number": number, "roles": roles, "own": own, "client": client, "between": between}
        config = folder / f"server-{number}.properties"
        config.write_text(SERVER.format(**common, **more, data=folder / f"data-{number}"))
        words: list[str | Path] = ["kafka.tools.StorageTool", "format", "--cluster-id", cluster, "--config", config]
        words += ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"]
        subprocess.run([*_java(), *words], check=True, stdout=subprocess.DEVNULL, timeout=120)
        configs.append(config)
    for name, text in (("librdkafka", LIBRDKAFKA), ("java", JAVA)):
        (folder / f"{name}.properties").write_text(text.format(folder=folder))
    (folder / "password").write_text(PASSWORD)
    with _broker(folder, configs[0], ports[0]) as one, _broker(folder, configs[1], ports[2]) as two:
        up = SecureKafka(folder, f"127.0.0.1:{ports[0]},127.0.0.1:{ports[2]}", (one, two))
        until("both brokers are known", lambda: _known(up) == 2)
        yield up


def certificates(folder: Path) -> None:
    """Fills `folder` with ca.pem, certificate.pem and key.pem, of servers and clients on 127.0.0.1."""
    words = [str(toolchain.go_path()), "run", str(Path(__file__).with_name("certificates") / "main.go")]
    subprocess.run(
        words, cwd=folder, check=True, capture_output=True, timeout=300, env=os.environ | {"CGO_ENABLED": "0"}
    )


def _known(up: SecureKafka) -> int:
    try:
        metadata: Any = AdminClient(up.read().client() | {"log_level": 0}).list_topics(timeout=2)
    except KafkaException:
        return 0
    return len(metadata.brokers)


@contextmanager
def _broker(folder: Path, config: Path, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    def ready() -> bool:
        with socket.socket() as listener:
            return listener.connect_ex(("127.0.0.1", port)) == 0

    words = [*_java(), "kafka.Kafka", config]
    with running("Kafka", words, ready, folder / f"{config.stem}.log", limit_s=120, stop_s=5.0) as process:
        yield process


def _java() -> list[str | Path]:
    return [java_home() / "bin/java", "-Xms64m", "-Xmx256m", *QUICK, "-cp", f"{JARS}/*"]
