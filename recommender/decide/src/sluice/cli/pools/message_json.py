"""Converts a protobuf message to values for `json.dumps`, for scripts.

The result follows protobuf's JSON mapping (times RFC 3339, durations "0.250s", enums by name) with three differences.
Fields have their names in the proto (snake_case); an absent field with presence is null; 64-bit integers are numbers.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.cli.output import print_item, print_items, say
from sluice.cli.pools.text import short_name

M = TypeVar("M", bound=Message)
# Enums whose values appear without their prefix.
SHORT = {
    *("sluice.pools.v1.State", "sluice.pools.v1.Basis", "sluice.pools.v1.Advice.Kind"),
    "sluice.pools.v1.FoundBy",
    *("sluice.common.v1.Action", "sluice.subsets.v1.State"),
}


def message_to_json(message: Message) -> Any:
    """Converts every field of the message, in the proto's order."""
    if isinstance(message, Duration | Timestamp):
        return message.ToJsonString()
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def show_message(message: M, form: str, text: Callable[[M], object]) -> None:
    """Writes a message in the form of `-o`; as a table by `text`."""
    if form != "table":
        print_item(message_to_json(message), form)
    else:
        text(message)


def show_change(message: M, form: str, line: Callable[[M, datetime], str]) -> None:
    """Writes an event of a watch at once: as JSON on one line, or by `line` and the present time."""
    if form == "jsonl":
        print_items([message_to_json(message)], form)
        sys.stdout.flush()
    else:
        say(line(message, datetime.now(UTC)))


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_scalar(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _scalar(field, value)


def _scalar(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return message_to_json(value)
    if field.enum_type is not None:
        if field.enum_type.full_name in SHORT:
            return short_name(field.enum_type, value)
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    return value
