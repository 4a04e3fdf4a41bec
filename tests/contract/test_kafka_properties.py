"""Files of librdkafka's properties that no reader accepts, and the example. Go: recommender/serve/internal/brokers."""

import json
from pathlib import Path

import pytest

from sluice.journal.kafka_settings import KafkaSettingsError, from_environment
from stack.settings import REPOSITORY

CASES = json.loads((Path(__file__).with_name("kafka_properties") / "illegal.json").read_text())
EXAMPLE = REPOSITORY / "recommender/kafka.properties"


def variables(folder: Path, text: str) -> dict[str, str]:
    path = folder / "kafka.properties"
    path.write_text(text)
    return {"SLUICE_KAFKA_PROPERTIES": str(path)}


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_legal_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    text, words = CASES[name]
    with pytest.raises(KafkaSettingsError) as raised:
        from_environment(variables(tmp_path, text))
    assert str(raised.value).startswith(f"SLUICE_KAFKA_PROPERTIES: {tmp_path}/kafka.properties")
    assert words in str(raised.value)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"client.rack=\xff"])
def test_a_file_that_cannot_be_read_is_named(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "kafka.properties"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KafkaSettingsError, match=f"SLUICE_KAFKA_PROPERTIES: {path}"):
        from_environment({"SLUICE_KAFKA_PROPERTIES": str(path)})


def test_the_example_is_legal_but_for_its_files(tmp_path: Path) -> None:
    lines = [line for line in EXAMPLE.read_text().splitlines() if ".location=" not in line]
    settings = from_environment(variables(tmp_path, "\n".join(lines)) | {"SLUICE_KAFKA": "a:1,b:2"})
    assert settings.client() == {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "sluice",
        "sasl.password": "example",
        "ssl.endpoint.identification.algorithm": "https",
        "client.rack": "a",
    }
    assert "example" not in repr(settings)


def test_any_property_of_librdkafka_is_legal_and_a_value_may_hold_an_equals_sign(tmp_path: Path) -> None:
    settings = from_environment(variables(tmp_path, "sasl.password = a=b# \nsocket.timeout.ms=10000\n"))
    assert settings.properties == {"sasl.password": "a=b#", "socket.timeout.ms": "10000"}


def test_topics_have_other_names_by_variables() -> None:
    usual = from_environment({})
    assert usual.client() == {"bootstrap.servers": "127.0.0.1:9092"}
    assert [usual.topic(name) for name in ("otlp_spans", "sluice_state")] == ["otlp_spans", "sluice_state"]
    assert usual.journal.reports == "sluice_reports"

    other = from_environment({"SLUICE_TOPIC_PREFIX": "prod.", "SLUICE_SPANS_TOPIC": "traces"})
    topics = [other.topic(name) for name in ("otlp_spans", "otlp_metrics", "sluice_state")]
    assert topics == ["traces", "otlp_metrics", "prod.state"]
    assert other.journal.state == "prod.state"
