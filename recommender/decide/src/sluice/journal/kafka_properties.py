"""Reads a file of librdkafka's properties, one NAME=VALUE a line. It holds secrets: no error has a value of one."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_BROKERS = ("bootstrap.servers", "metadata.broker.list")
_SECRET = re.compile("password|secret|pem|oauth")

_quiet = logging.getLogger(__name__)
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


class KafkaSettingsError(Exception):
    """The file cannot be read, or has an illegal line. The message names the file, the line and the property."""


class _Property(NamedTuple):
    line: int
    value: str


def load(path: Path) -> dict[str, str]:
    """The properties by name, as librdkafka accepts them. Raises KafkaSettingsError."""
    try:
        text = path.read_text()
    except OSError as error:
        raise KafkaSettingsError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise KafkaSettingsError(f"{path} is not UTF-8") from error
    properties = _parse(path, text)
    _check(path, properties)
    return {name: value for name, (_, value) in properties.items()}


def _parse(path: Path, text: str) -> dict[str, _Property]:
    properties: dict[str, _Property] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name:
            raise KafkaSettingsError(f"{path}:{number} is not legal; legal: NAME=VALUE, or a comment after #")
        if name in _BROKERS:
            raise KafkaSettingsError(f"{path}:{number}: {name} is not legal here; SLUICE_KAFKA names the brokers")
        if name in properties:
            raise KafkaSettingsError(f"{path}:{number}: {name} is also in line {properties[name].line}; legal: once")
        properties[name] = _Property(number, value)
    return properties


def _check(path: Path, properties: Mapping[str, _Property]) -> None:
    values = {name: value for name, (_, value) in properties.items()}
    cause = _refusal(values)
    if not cause:
        return
    name = _at_fault(values, cause)
    where = f"{path}:{properties[name].line}: {name}" if name else str(path)
    if any(value and value in cause for name, value in values.items() if _SECRET.search(name)):
        cause = "its value is not legal"
    raise KafkaSettingsError(f"{where}: librdkafka refuses it: {cause}")


def _refusal(values: Mapping[str, str]) -> str:
    """The error of librdkafka; "" for none. It makes a client without brokers, which connects to nothing."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        AdminClient(dict(values), logger=_quiet)
    except KafkaException as error:
        return str(error.args[0].str()).strip()
    except (TypeError, ValueError) as error:  # settings of confluent-kafka that are functions
        return str(error)
    return ""


def _at_fault(values: Mapping[str, str], cause: str) -> str:
    """The property that librdkafka's error names, else the one with a value that it names, else the one that has the
    same error alone; "" for none."""
    named = [name for name in values if name in cause]
    named = named or [name for name, value in values.items() if value in cause.split()]
    named = named or [name for name, value in values.items() if _refusal({name: value}) == cause]
    return max(named, key=len, default="")
