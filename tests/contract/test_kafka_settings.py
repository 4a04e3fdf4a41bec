"""collector/kafka.toml, by each of who reads it in Python. Go's reader: recommender/serve/internal/brokers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sluice.journal.kafka_settings import KafkaSettingsError, load
from stack.settings import REPOSITORY

CASES = Path(__file__).with_name("kafka_settings") / "illegal.json"
EXAMPLE = REPOSITORY / "collector/kafka.toml"
PRINT_SETTINGS = (
    "import json, sys; from pathlib import Path; import kafka\n"
    "k = kafka.load(Path(sys.argv[1]), 'usual:1')\n"
    "print(json.dumps([k.brokers, [k.topic(t) for t in (kafka.SPANS, kafka.METRICS)], dict(k.properties)]))"
)


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "streaming-jobs/jobs")}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, env=environment)


def of_jobs(path: Path) -> subprocess.CompletedProcess[str]:
    return program("-c", PRINT_SETTINGS, path)


def of_collector(path: Path) -> subprocess.CompletedProcess[str]:
    return program(REPOSITORY / "collector/kafka_settings.py", path)


def of_recommender(path: Path, environment: Mapping[str, str] = os.environ) -> Any:
    return load(path, "usual:1", environment)


def given(folder: Path, text: str) -> Path:
    path = folder / "kafka.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", json.loads(CASES.read_text()))
@pytest.mark.parametrize("reader", [of_jobs, of_collector])
def test_what_is_not_legal_is_named(
    name: str, reader: Callable[[Path], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text, word = json.loads(CASES.read_text())[name]
    answer = reader(given(tmp_path, text))
    assert answer.returncode != 0
    assert word in answer.stderr.splitlines()[-1], answer.stderr
    with pytest.raises(KafkaSettingsError) as raised:
        of_recommender(given(tmp_path, text))
    assert word in str(raised.value)


def test_the_example_is_legal_for_all(tmp_path: Path) -> None:
    """But for its files, which are not here."""
    password = tmp_path / "password"
    password.write_text("secret")
    path = given(tmp_path, EXAMPLE.read_text().replace("/etc/sluice/kafka/password", str(password)))

    brokers, topics, java = json.loads(of_jobs(path).stdout)
    assert (brokers, topics) == ("kafka-1:9093,kafka-2:9093", ["traces", "prod.otlp_metrics"])
    assert (java["security.protocol"], java["sasl.mechanism"]) == ("SASL_SSL", "SCRAM-SHA-512")
    assert f'password="${{file:{tmp_path}:password}}"' in java["sasl.jaas.config"]
    assert java["client.rack"] == "a"

    settings = of_recommender(path)
    assert settings.client() == {
        "bootstrap.servers": brokers,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "/etc/sluice/kafka/ca.pem",
        "ssl.certificate.location": "/etc/sluice/kafka/client.pem",
        "ssl.key.location": "/etc/sluice/kafka/client.key",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "sluice",
        "sasl.password": "secret",
        "client.rack": "a",
    }
    assert settings.log().decisions == "prod.sluice_decisions"
    assert settings.log("mine_").state == "prod.mine_state"
    assert "secret" not in repr(settings)

    exporter = json.loads(of_collector(path).stdout)["exporters"]["kafka"]
    assert exporter["brokers"] == ["kafka-1:9093", "kafka-2:9093"]
    assert exporter["tls"]["ca_file"] == "/etc/sluice/kafka/ca.pem"
    assert exporter["auth"]["sasl"]["password"] == f"${{file:{password}}}"
    assert (exporter["traces"]["topic"], exporter["metrics"]["topic"]) == ("traces", "prod.otlp_metrics")
    assert exporter["timeout"] == "10s"

    for output in (of_jobs(path).stdout, of_collector(path).stdout):
        assert "secret" not in output.replace("secrets", "")


def test_nothing_said_is_what_it_always_was(tmp_path: Path) -> None:
    path = given(tmp_path, "")
    assert json.loads(of_jobs(path).stdout) == ["usual:1", ["otlp_spans", "otlp_metrics"], {}]
    assert of_recommender(path).client() == {"bootstrap.servers": "usual:1"}
    assert of_recommender(path).log().reports == "sluice_reports"


def test_a_password_that_java_would_misread_is_refused(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    text = f'[sasl]\nmechanism = "PLAIN"\nuser = "u"\npassword_file = "{password}"'
    answer = of_jobs(given(tmp_path, text))
    assert "no line's end" in answer.stderr
    assert "secret" not in answer.stderr.replace("secrets", "")
