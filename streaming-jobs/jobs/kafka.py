"""How to reach Kafka: brokers, names of topics, and the properties of Kafka's Java client by reference to their file.

The file of SLUICE_KAFKA_PROPERTIES holds passwords. So a property's value here is a reference to its line: Kafka's own
configuration provider reads the file in the process that makes the client. Neither DDL nor job graph has a value.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Topics that the jobs read, and the topic of what they cannot use: collector/topics.yaml.
SPANS, METRICS, DEAD_LETTERS = "otlp_spans", "otlp_metrics", "otlp_dead_letter"
# Variables with other names of them.
NAMES = {
    SPANS: "SLUICE_SPANS_TOPIC",
    METRICS: "SLUICE_METRICS_TOPIC",
    DEAD_LETTERS: "SLUICE_DEAD_LETTER_TOPIC",
}
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PROPERTY = re.compile(r"[A-Za-z0-9._-]+")
# Flink's connector has Kafka's client under a name of its own.
_SHADED = "org.apache.flink.kafka.shaded."
_PROVIDERS = {
    "config.providers": "file",
    "config.providers.file.class": f"{_SHADED}org.apache.kafka.common.config.provider.FileConfigProvider",
}


class KafkaSettingsError(ValueError):
    """A variable or the file has an illegal value. The message names it, with file and line, and has no secret."""


@dataclass(frozen=True)
class Kafka:
    """brokers: HOST:PORT, comma-separated. names: of topics, by those of collector/topics.yaml, where they differ.
    properties: of the Java client, without the brokers."""

    brokers: str
    names: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)

    def topic(self, name: str) -> str:
        """The name on the brokers of the topic that is `name` in collector/topics.yaml."""
        return self.names.get(name, name)


def from_environment(environment: Mapping[str, str]) -> Kafka:
    """Raises KafkaSettingsError."""
    brokers = environment.get("SLUICE_KAFKA") or "127.0.0.1:9092"
    if "'" in brokers:
        raise KafkaSettingsError("SLUICE_KAFKA: kafka's addresses must not contain a single quote")
    names = {name: environment[variable] for name, variable in NAMES.items() if environment.get(variable)}
    for name, topic in names.items():
        if not _TOPIC.fullmatch(topic):
            raise KafkaSettingsError(f"{NAMES[name]} is {topic!r}: must match {_TOPIC.pattern}")
    path = environment.get("SLUICE_KAFKA_PROPERTIES")
    return Kafka(brokers, names, references(Path(path)) if path else {})


def references(path: Path) -> dict[str, str]:
    """Properties with references to the values in a file. Raises KafkaSettingsError."""
    if not path.is_absolute() or any(letter in str(path) for letter in ":}'"):
        raise KafkaSettingsError(
            f"SLUICE_KAFKA_PROPERTIES is {path}: must be an absolute path without ':', '}}' and quotes, since "
            "TaskManagers read the file too"
        )
    try:
        text = path.read_text()
    except OSError as error:
        raise KafkaSettingsError(f"SLUICE_KAFKA_PROPERTIES: {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise KafkaSettingsError(f"SLUICE_KAFKA_PROPERTIES: {path} is not UTF-8") from error
    try:
        return _PROVIDERS | {name: "${file:" + f"{path}:{name}" + "}" for name in _names(text)}
    except ValueError as error:
        raise KafkaSettingsError(f"SLUICE_KAFKA_PROPERTIES: {path}:{error}") from error


def _names(text: str) -> list[str]:
    """Names of the properties. ValueError: the number of the line and its fault."""
    lines: dict[str, int] = {}
    for number, line in _joined(text):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not _PROPERTY.fullmatch(name):
            raise ValueError(f"{number} is not legal; legal: NAME=VALUE, or a comment after #")
        if name == "bootstrap.servers":
            raise ValueError(f"{number}: {name} is not legal here; SLUICE_KAFKA names the brokers")
        if name.startswith("config.providers"):
            raise ValueError(f"{number}: {name} is not legal here; the job has a provider that reads this file")
        if name in lines:
            raise ValueError(f"{number}: {name} is also in line {lines[name]}; legal: once")
        if name == "sasl.jaas.config" and value.startswith("org.apache.kafka."):
            raise ValueError(
                f"{number}: {name} names a class of org.apache.kafka; legal: {_SHADED}org.apache.kafka..., its name in "
                "Flink's connector"
            )
        lines[name] = number
    return list(lines)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """The properties' lines, each with its number and the lines that continue it: those after a backslash."""
    begun, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not begun and (not line or line[0] in "#!"):
            continue
        start = start if begun else number
        continues = (len(line) - len(line.rstrip("\\"))) % 2
        begun += line.removesuffix("\\") if continues else line
        if not continues:
            yield start, begun
            begun = ""
    if begun:
        yield start, begun
