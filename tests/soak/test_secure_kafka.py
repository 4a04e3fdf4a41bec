"""All stages on two brokers that speak TLS alone, ask for certificates and passwords, and name topics otherwise; and on
the one that is left when the other is killed."""

import json
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml
from confluent_kafka import Consumer, Message, Producer

from sluice_kit.journal.shard_log import BINARY, ready
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import FlinkJobs, keeper_at_rest
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from sluice_kit.programs.decider import Decider
from sluice_kit.servers.secure_kafka import PASSWORD, PREFIX, USER, SecureKafka, secure_kafka
from sluice_kit.traffic.messages import SentSpan, message
from sluice_kit.waiting import eventually, until
from stack.layout import CACHE
from stack.settings import REPOSITORY

COLLECTOR = CACHE / "bin/sluice-collector"
LOCAL = REPOSITORY / "collector/config/local.yaml"
EXAMPLE = REPOSITORY / "collector/config/kafka.yaml"
YAML = """
pools:
  - {service: cart, side: server, threshold: 100ms}
"""


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    folder = tmp_path_factory.mktemp("secured")
    with secure_kafka(folder) as up:
        up.create(folder)
        yield up


@pytest.fixture(scope="module")
def flink(stack: Stack) -> Iterator[FlinkJobs]:
    with keeper_at_rest(stack) as jobs:
        jobs.cancel_all()
        yield jobs


def span(service: str, now: int) -> SentSpan:
    return SentSpan(service, os.urandom(16), os.urandom(8), b"", "SERVER", now - 10**6, now)


def send(brokers: SecureKafka, services: list[str]) -> None:
    producer = Producer(brokers.read().client() | {"log_level": 0})
    for service in services:
        producer.produce("traces", message([span(service, time.time_ns())]))
    assert producer.flush(60) == 0


def test_jobs_read_and_write_there_and_go_on_when_a_broker_is_killed(
    flink: FlinkJobs, stack: Stack, brokers: SecureKafka
) -> None:
    prefix = f"secured-{uuid.uuid4().hex[:6]}-"

    def services() -> int:
        return int(stack.value(f"SELECT uniqExact(service) FROM v_windows WHERE startsWith(service, '{prefix}')"))

    job = flink.run("concurrency", "--name", "secured", environment=brokers.jobs)
    send(brokers, [f"{prefix}{n}" for n in range(20)])
    assert eventually(services, 20) == 20

    letters = Consumer(
        brokers.read().client() | {"group.id": "letters", "auto.offset.reset": "earliest", "log_level": 0}
    )
    letters.subscribe([f"{PREFIX}otlp_dead_letter"])
    producer = Producer(brokers.read().client() | {"log_level": 0})
    producer.produce("traces", b"no request")
    assert producer.flush(60) == 0
    got: list[Message] = []

    def letter() -> bool:
        got.extend(one for one in letters.consume(1, 1.0) if one.error() is None)
        return bool(got)

    until("a dead letter", letter)
    letters.close()
    assert json.loads(got[0].value() or b"")["reason"] == "malformed_message"

    brokers.brokers[1].kill()
    send(brokers, [f"{prefix}{n}" for n in range(20, 40)])
    assert eventually(services, 40) == 40
    _no_password_is_shown(stack, job)
    flink.cancel(job)


def _no_password_is_shown(stack: Stack, job: str) -> None:
    """Neither by Flink's web interface nor in its logs: of Kafka, of ClickHouse, of Neo4j."""
    secrets = [PASSWORD, stack.address["SLUICE_CLICKHOUSE_PASSWORD"], stack.address["SLUICE_NEO4J_PASSWORD"]]
    rest = stack.address["SLUICE_FLINK"]
    pages = [f"jobs/{job}", f"jobs/{job}/config", f"jobs/{job}/plan", "jobmanager/config", "jobmanager/environment"]
    texts = {page: requests.get(f"{rest}/{page}", timeout=30).text for page in pages}
    logs = Path(stack.address["SLUICE_STATE"]) / "logs"
    texts |= {file.name: file.read_text(errors="replace") for file in logs.glob("*flink*") if file.is_file()}
    assert len(texts) > len(pages), "no logs of Flink were found"
    assert not [name for name, text in texts.items() for secret in secrets if secret in text]


def arrives(brokers: SecureKafka, topic: str, what: bytes) -> None:
    """In a record's key or value."""
    more = {"group.id": f"reads-{topic}", "auto.offset.reset": "earliest", "log_level": 0}
    reader = Consumer(brokers.read().client() | more)
    reader.subscribe([topic])

    def has_arrived() -> bool:
        records = [one for one in reader.consume(100, 1.0) if one.error() is None]
        return any(what in (one.key() or b"") + (one.value() or b"") for one in records)

    try:
        until(f"{what!r} is on {topic}", has_arrived)
    finally:
        reader.close()


def test_the_collector_writes_there(brokers: SecureKafka, tmp_path: Path) -> None:
    files = {"ca": "ca.pem", "cert": "certificate.pem", "key": "key.pem"}
    configuration = yaml.safe_load(EXAMPLE.read_text())
    kafka = configuration["exporters"]["kafka"]
    kafka["tls"] |= {f"{kind}_file": str(brokers.folder / name) for kind, name in files.items()}
    kafka["auth"]["sasl"] |= {"username": USER, "password": f"${{file:{brokers.folder}/password}}"}
    kafka_yaml = tmp_path / "kafka.yaml"
    kafka_yaml.write_text(yaml.safe_dump(configuration))
    grpc, http, health, metrics = (f"127.0.0.1:{port}" for port in free_ports(4))
    variables = {"SLUICE_OTLP_GRPC": grpc, "SLUICE_OTLP_HTTP": http, "SLUICE_COLLECTOR_HEALTH": health}
    variables |= {"SLUICE_PORT_COLLECTOR_METRICS": metrics.rpartition(":")[2], "SLUICE_STATE": str(tmp_path)}
    variables |= brokers.environment
    command: list[str | Path] = [COLLECTOR, "--config", LOCAL, "--config", kafka_yaml]

    def healthy() -> bool:
        try:
            return requests.get(f"http://{health}/", timeout=1).ok
        except requests.RequestException:
            return False

    with running("collector", command, healthy, tmp_path / "collector.log", 60, os.environ | variables):
        answer = requests.post(
            f"http://{http}/v1/traces",
            data=message([span("by-the-collector", time.time_ns())]),
            headers={"Content-Type": "application/x-protobuf"},
            timeout=20,
        )
        assert answer.status_code == 200, answer.text
        arrives(brokers, "traces", b"by-the-collector")
    assert PASSWORD not in (tmp_path / "collector.log").read_text()


def test_deciders_and_servers_have_their_log_there(
    brokers: SecureKafka, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_KAFKA_PROPERTIES", brokers.environment["SLUICE_KAFKA_PROPERTIES"])
    decider = Decider(tmp_path, stack.address["SLUICE_CLICKHOUSE"], brokers.bootstrap, PREFIX, YAML)
    with decider.running():
        arrives(brokers, f"{PREFIX}decisions", b"shard/0")
        address = f"127.0.0.1:{free_ports(1)[0]}"
        variables = os.environ | brokers.environment | {"SLUICE_RECOMMENDER": address}
        with running("server", [BINARY], lambda: ready(address), tmp_path / "server.log", 120, variables):
            pass
    assert PASSWORD not in decider.output.read_text() + (tmp_path / "server.log").read_text()
