"""How the jobs reach Kafka: names of topics, and references to the lines of a file of Java's properties."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"
EXAMPLE = JOBS.parent / "kafka.properties"
PRINT = (
    "import json, os, kafka; k = kafka.from_environment(os.environ);"
    "print(json.dumps([k.brokers, [k.topic(t) for t in kafka.NAMES], k.properties]))"
)


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(JOBS), **variables}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, env=environment)


def test_the_job_has_places_of_values_and_no_value() -> None:
    answer = run("-c", PRINT, SLUICE_KAFKA="a:1,b:2", SLUICE_KAFKA_PROPERTIES=str(EXAMPLE), SLUICE_SPANS_TOPIC="traces")
    brokers, topics, properties = json.loads(answer.stdout)
    assert (brokers, topics) == ("a:1,b:2", ["traces", "otlp_metrics", "otlp_dead_letter"])
    providers = [name for name in properties if name.startswith("config.providers")]
    names = "security.protocol ssl.truststore.type ssl.truststore.location ssl.keystore.type ssl.keystore.location"
    assert list(properties) == [*providers, *names.split(), "sasl.mechanism", "sasl.jaas.config", "client.rack"]
    assert properties["sasl.jaas.config"] == "${file:" + str(EXAMPLE) + ":sasl.jaas.config}"
    assert "example" not in answer.stdout


def test_without_variables_the_job_reads_the_local_stack() -> None:
    topics = ["otlp_spans", "otlp_metrics", "otlp_dead_letter"]
    assert json.loads(run("-c", PRINT).stdout) == ["127.0.0.1:9092", topics, {}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("client.rack=a\n\n! a comment\nhidden", ":4 is not legal; legal: NAME=VALUE"),
        ("sasl password=hidden", ":1 is not legal; legal: NAME=VALUE"),
        ("a'b=hidden", ":1 is not legal; legal: NAME=VALUE"),
        ("client.id=a\\\n  =b\nbootstrap.servers=hidden", ":3: bootstrap.servers is not legal here; SLUICE_KAFKA"),
        ("config.providers=env", ":1: config.providers is not legal here"),
        ("client.rack=a\nclient.rack=hidden", ":2: client.rack is also in line 1"),
        (
            "sasl.jaas.config=\\\n  org.apache.kafka.common.security.plain.PlainLoginModule required password=hidden;",
            ":1: sasl.jaas.config names a class of org.apache.kafka; legal: org.apache.flink.kafka.shaded.",
        ),
    ],
)
def test_a_line_that_is_not_legal_is_named(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "kafka.properties"
    path.write_text(text)
    answer = run(JOBS / "run.py", "concurrency", "--check", SLUICE_KAFKA_PROPERTIES=str(path))
    assert answer.returncode == 2
    assert f"SLUICE_KAFKA_PROPERTIES: {path}{words}" in answer.stderr
    assert "hidden" not in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("SLUICE_KAFKA_PROPERTIES", "kafka.properties", "must be an absolute path"),
        ("SLUICE_KAFKA_PROPERTIES", "/a}b", "must be an absolute path without"),
        ("SLUICE_KAFKA_PROPERTIES", "/none", "SLUICE_KAFKA_PROPERTIES: /none: No such file"),
        ("SLUICE_SPANS_TOPIC", "a'b", "SLUICE_SPANS_TOPIC is"),
    ],
)
def test_a_variable_that_is_not_legal_is_named(variable: str, value: str, words: str) -> None:
    answer = run(JOBS / "run.py", "concurrency", "--check", **{variable: value})
    assert answer.returncode == 2
    assert words in answer.stderr
