"""Settings of Kafka from the file SLUICE_KAFKA_SETTINGS (collector/kafka.toml): addresses, TLS, SASL, topic names."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice.journal.names import Topics

_TABLES = {
    "": {"brokers", "topic_prefix", "topics", "tls", "sasl", "java", "librdkafka", "franz", "collector"},
    "tls": {"ca", "certificate", "key", "verify_host"},
    "sasl": {"mechanism", "user", "password_file", "password_variable"},
}
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
USUAL = "127.0.0.1:9092"


class KafkaSettingsError(Exception):
    """The file cannot be read, or has an illegal value. The message names file and key."""


@dataclass(frozen=True)
class KafkaSettings:
    """brokers: HOST:PORT, comma-separated. prefix, names: of topics. properties: librdkafka's, without brokers."""

    brokers: str = USUAL
    prefix: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    def topic(self, name: str) -> str:
        """The topic's name on the brokers. name: as in collector/topics.yaml."""
        return self.names.get(name, self.prefix + name)

    def log(self, prefix: str = "sluice_") -> Topics:
        """The journal's topics. prefix: replaces sluice_ where the settings name no topic."""
        return Topics(*(self.names.get(f"sluice_{name}", self.prefix + prefix + name) for name in Topics._fields))

    def client(self) -> dict[str, Any]:
        """Configuration of a client of confluent-kafka."""
        return {**self.properties, "bootstrap.servers": self.brokers}


def from_environment(environment: Mapping[str, str] = os.environ) -> KafkaSettings:
    """Settings of the environment. SLUICE_KAFKA has the brokers where the file of SLUICE_KAFKA_SETTINGS has none."""
    brokers = environment.get("SLUICE_KAFKA") or USUAL
    path = environment.get("SLUICE_KAFKA_SETTINGS")
    return load(Path(path), brokers, environment) if path else KafkaSettings(brokers)


def load(path: Path, brokers: str, environment: Mapping[str, str]) -> KafkaSettings:
    """Settings of a file. environment: variables with passwords. Raises KafkaSettingsError."""
    try:
        return _settings(tomllib.loads(path.read_text()), brokers, environment)
    except (OSError, ValueError) as error:
        raise KafkaSettingsError(f"read {path}: {error}") from error


def _settings(document: Mapping[str, Any], brokers: str, environment: Mapping[str, str]) -> KafkaSettings:
    _check(document)
    properties = _security(document.get("tls"), document.get("sasl"), environment) | {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in document.get("librdkafka", {}).items()
    }
    return KafkaSettings(
        ",".join(document.get("brokers", [brokers])),
        document.get("topic_prefix", ""),
        document.get("topics", {}),
        properties,
    )


def _check(document: Mapping[str, Any]) -> None:
    for table, known in _TABLES.items():
        within = document.get(table, {}) if table else document
        if not isinstance(within, dict):
            raise ValueError(f"{table} must be a table")
        for key in within:
            if key not in known:
                name = f"{table}.{key}" if table else key
                raise ValueError(f"{name} is not known; known: {', '.join(sorted(known))}")
    brokers = document.get("brokers", ["one"])
    if not isinstance(brokers, list) or not brokers:
        raise ValueError("brokers must be a list of HOST:PORT")


def _security(
    tls: Mapping[str, Any] | None, sasl: Mapping[str, str] | None, environment: Mapping[str, str]
) -> dict[str, str]:
    if tls is None and sasl is None:
        return {}
    protocol = ("SASL_" if sasl is not None else "") + ("SSL" if tls is not None else "PLAINTEXT")
    settings = {"security.protocol": protocol}
    if tls is not None:
        if "ca" in tls:
            settings["ssl.ca.location"] = tls["ca"]
        if ("certificate" in tls) != ("key" in tls):
            raise ValueError("tls.certificate and tls.key must both be set, or neither")
        if "certificate" in tls:
            settings |= {"ssl.certificate.location": tls["certificate"], "ssl.key.location": tls["key"]}
        if not tls.get("verify_host", True):
            settings["ssl.endpoint.identification.algorithm"] = "none"
    if sasl is not None:
        settings |= _login(sasl, environment)
    return settings


def _login(sasl: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    mechanism = sasl.get("mechanism", "")
    if mechanism not in _MECHANISMS:
        raise ValueError(f"sasl.mechanism is {mechanism!r}; legal: {', '.join(_MECHANISMS)}")
    if not sasl.get("user") or '"' in sasl["user"]:
        raise ValueError("sasl.user is missing or has a double quote; legal: a name without double quotes")
    if ("password_file" in sasl) == ("password_variable" in sasl):
        raise ValueError("sasl needs exactly one of password_file and password_variable")
    if "password_file" in sasl:
        password = Path(sasl["password_file"]).read_text()
    elif (name := sasl["password_variable"]) in environment:
        password = environment[name]
    else:
        raise ValueError(f"sasl.password_variable: the environment has no {name}")
    return {"sasl.mechanism": mechanism, "sasl.username": sasl["user"], "sasl.password": password}
