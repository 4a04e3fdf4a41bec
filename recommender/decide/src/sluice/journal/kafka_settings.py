"""How to reach Kafka, from the environment: brokers, properties of librdkafka, and names of topics."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice.journal.kafka_properties import KafkaSettingsError, load
from sluice.journal.names import Topics, topics

__all__ = ["KafkaSettings", "KafkaSettingsError", "from_environment"]

USUAL = "127.0.0.1:9092"
JOURNAL = "sluice_"
# Variables with the names of the topics between collectors and streaming jobs, by names of collector/topics.yaml.
OTLP = {
    "otlp_spans": "SLUICE_SPANS_TOPIC",
    "otlp_metrics": "SLUICE_METRICS_TOPIC",
    "otlp_dead_letter": "SLUICE_DEAD_LETTER_TOPIC",
}


@dataclass(frozen=True)
class KafkaSettings:
    """brokers: HOST:PORT, comma-separated. prefix: of the journal's topics. otlp: names of other topics by those of
    collector/topics.yaml, where they differ. properties: librdkafka's, without brokers; they hold secrets."""

    brokers: str = USUAL
    prefix: str = JOURNAL
    otlp: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def journal(self) -> Topics:
        return topics(self.prefix)

    def topic(self, name: str) -> str:
        """The topic's name on the brokers. name: as in collector/topics.yaml."""
        if name.startswith(JOURNAL):
            return self.prefix + name.removeprefix(JOURNAL)
        return self.otlp.get(name, name)

    def client(self) -> dict[str, Any]:
        """Configuration of a client of confluent-kafka."""
        return {**self.properties, "bootstrap.servers": self.brokers}


def from_environment(environment: Mapping[str, str] = os.environ) -> KafkaSettings:
    """Raises KafkaSettingsError for the file of SLUICE_KAFKA_PROPERTIES."""
    path = environment.get("SLUICE_KAFKA_PROPERTIES")
    try:
        properties = load(Path(path)) if path else {}
    except KafkaSettingsError as error:
        raise KafkaSettingsError(f"SLUICE_KAFKA_PROPERTIES: {error}") from error
    return KafkaSettings(
        environment.get("SLUICE_KAFKA") or USUAL,
        environment.get("SLUICE_TOPIC_PREFIX") or JOURNAL,
        {name: environment[variable] for name, variable in OTLP.items() if environment.get(variable)},
        properties,
    )
