"""Converts Jaeger tags to OTLP attributes."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Protocol

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from sluice.cli.traces.replay.trace import BadRecordError


class _Attributes(Protocol):
    def add(self, *, key: str = ...) -> KeyValue: ...


def add_jaeger_tags(out: _Attributes, tags: Any, where: str, rename: Mapping[str, str] | None = None) -> None:
    """Appends `[{"key", "type", "value"}]` to `out`, with keys renamed as in `rename`.

    Types string, bool, int64, float64 and binary (base64) keep their type. Without a type, or for a value that does not
    fit its type, the value's own JSON type counts, so that nothing is lost. Raises BadRecordError when a tag has no
    key.
    """
    if tags is None:
        return
    if not isinstance(tags, list):
        raise BadRecordError(f"{where} is not an array")
    for number, tag in enumerate(tags):
        key = tag.get("key") if isinstance(tag, dict) else None
        if not isinstance(key, str):
            raise BadRecordError(f"{where}[{number}].key is missing")
        if rename is not None:
            key = rename.get(key, key)
        _set(out.add(key=key).value, tag.get("type"), tag.get("value"))


def _set(out: AnyValue, declared: Any, value: Any) -> None:
    if declared == "string" and isinstance(value, str):
        out.string_value = value
    elif declared == "binary" and isinstance(value, str) and (raw := _base64(value)) is not None:
        out.bytes_value = raw
    elif declared == "float64" and (real := _number(value)) is not None:
        out.double_value = real
    elif declared == "int64" and (number := _integer(value)) is not None:
        out.int_value = number
    elif declared == "bool" and str(value).lower() in ("true", "false"):
        out.bool_value = str(value).lower() == "true"
    elif isinstance(value, bool):
        out.bool_value = value
    elif isinstance(value, int) and -(2**63) <= value < 2**63:
        out.int_value = value
    elif isinstance(value, float):
        out.double_value = value
    elif value is not None:
        out.string_value = str(value)


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _integer(value: Any) -> int | None:
    # 64-bit numbers may be strings, because JSON numbers lose digits above 2^53.
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not -(2**63) <= number < 2**63:
        return None
    return number


def _base64(value: str) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
