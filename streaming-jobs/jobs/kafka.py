"""How to reach Kafka: addresses, TLS, SASL and names of topics, from the file of SLUICE_KAFKA_SETTINGS.

collector/kafka.toml is such a file. They become properties of Kafka's Java client. Passwords are references to a file
or a variable: the clients in Flink's processes read them there, by Kafka's own configuration providers.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Topics that the jobs read, and the topic of what they cannot use: collector/topics.yaml.
SPANS, METRICS, DEAD_LETTERS = "otlp_spans", "otlp_metrics", "otlp_dead_letter"

_TABLES = {
    "": {"brokers", "topic_prefix", "topics", "tls", "sasl", "java", "librdkafka", "franz", "collector"},
    "tls": {"ca", "certificate", "key", "verify_host"},
    "sasl": {"mechanism", "user", "password_file", "password_variable"},
}
_MECHANISMS = {"PLAIN": "plain.PlainLoginModule", "SCRAM-SHA-256": "scram.ScramLoginModule"}
_MECHANISMS["SCRAM-SHA-512"] = _MECHANISMS["SCRAM-SHA-256"]
# Flink's connector has Kafka's client under a name of its own.
_CLIENT = "org.apache.flink.kafka.shaded.org.apache.kafka.common"
_PROVIDERS = {
    "config.providers": "file,variable",
    "config.providers.file.class": f"{_CLIENT}.config.provider.DirectoryConfigProvider",
    "config.providers.variable.class": f"{_CLIENT}.config.provider.EnvVarConfigProvider",
}


class KafkaSettingsError(ValueError):
    """The file cannot be read or holds an illegal value; the message names file and key."""


@dataclass(frozen=True)
class Kafka:
    """brokers: HOST:PORT, with commas between. properties: of the Java client, without the brokers."""

    brokers: str
    prefix: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)

    def topic(self, name: str) -> str:
        """The name on the brokers of the topic that is `name` in collector/topics.yaml."""
        return self.names.get(name, self.prefix + name)


def from_environment(environment: Mapping[str, str]) -> Kafka:
    brokers = environment.get("SLUICE_KAFKA") or "127.0.0.1:9092"
    path = environment.get("SLUICE_KAFKA_SETTINGS")
    if path:
        return load(Path(path), brokers)
    if "'" in brokers:
        raise KafkaSettingsError("SLUICE_KAFKA: kafka's addresses must not contain a single quote")
    return Kafka(brokers)


def load(path: Path, brokers: str = "") -> Kafka:
    """brokers: if the file names none. Raises KafkaSettingsError."""
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KafkaSettingsError(f"read {path}: {error}") from error
    try:
        return _kafka(table, brokers)
    except ValueError as error:
        raise KafkaSettingsError(f"read {path}: {error}") from error


def _kafka(table: Mapping[str, Any], brokers: str) -> Kafka:
    _check(table)
    properties = _security(table.get("tls"), table.get("sasl")) | {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in table.get("java", {}).items()
    }
    kafka = Kafka(
        ",".join(table.get("brokers", [brokers])), table.get("topic_prefix", ""), table.get("topics", {}), properties
    )
    for text in (kafka.brokers, kafka.prefix, *kafka.names.values(), *properties, *properties.values()):
        if "'" in text:
            raise ValueError(f"{text!r} holds a single quote")
    return kafka


def _check(file: Mapping[str, Any]) -> None:
    for name, known in _TABLES.items():
        table = file.get(name, {}) if name else file
        if not isinstance(table, dict):
            raise ValueError(f"{name} must be a table")
        for key in table:
            if key not in known:
                name = f"{name}.{key}" if name else key
                raise ValueError(f"{name} is not known; known: {', '.join(sorted(known))}")
    brokers = file.get("brokers", ["one"])
    if not isinstance(brokers, list) or not brokers:
        raise ValueError("brokers must be a list of HOST:PORT")


def _security(tls: Mapping[str, Any] | None, sasl: Mapping[str, str] | None) -> dict[str, str]:
    """Properties for TLS and SASL, and the providers of the values that they refer to."""
    if tls is None and sasl is None:
        return {}
    protocol = ("SASL_" if sasl is not None else "") + ("SSL" if tls is not None else "PLAINTEXT")
    properties = {"security.protocol": protocol} | _PROVIDERS
    if tls is not None:
        if "ca" in tls:
            properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": tls["ca"]}
        if ("certificate" in tls) != ("key" in tls):
            raise ValueError("tls.certificate and tls.key go together")
        if "certificate" in tls:
            properties |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": _file(tls["certificate"]),
                "ssl.keystore.key": _file(tls["key"]),
            }
        if not tls.get("verify_host", True):
            properties["ssl.endpoint.identification.algorithm"] = ""
    if sasl is not None:
        properties |= _login(sasl)
    return properties


def _login(sasl: Mapping[str, str]) -> dict[str, str]:
    mechanism = sasl.get("mechanism", "")
    if mechanism not in _MECHANISMS:
        raise ValueError(f"sasl.mechanism is {mechanism!r}; legal: {', '.join(sorted(_MECHANISMS))}")
    if not sasl.get("user") or '"' in sasl["user"]:
        raise ValueError("sasl.user must be there, without a double quote")
    if ("password_file" in sasl) == ("password_variable" in sasl):
        raise ValueError("sasl needs exactly one of password_file and password_variable")
    if "password_file" in sasl:
        password = _file(sasl["password_file"])
        _check_password(Path(sasl["password_file"]))
    else:
        password = "${variable:" + sasl["password_variable"] + "}"
    module = f"{_CLIENT}.security.{_MECHANISMS[mechanism]}"
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="{sasl["user"]}" password="{password}";',
    }


def _file(path: str) -> str:
    """The reference to the contents of a file, for a property."""
    if not Path(path).is_absolute():
        raise ValueError(f"{path} is not an absolute path: other processes read it too")
    return "${file:" + f"{Path(path).parent}:{Path(path).name}" + "}"


def _check_password(path: Path) -> None:
    """Java's login reads the file as it is, within quotes. A file of other hosts is not checked."""
    if path.exists() and any(letter in path.read_text() for letter in '"\\\n\r'):
        raise ValueError(f"sasl.password_file: {path} must hold no quote, no backslash and no line's end")
