"""Messages that no honest caller sends, from their descriptors: numbers at the ends of their range and none, values of
enums that are not declared, and names that a reader may take for more than a name. A strategy of Hypothesis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

# Recursive types have no other end.
DEEPEST = 5

TEXTS = (
    "",
    " ",
    "\0",
    "\x1b]0;owned\x07\x1b[2J",
    "a\r\nSet-Cookie: b=c",
    "../../etc/passwd",
    "';DROP TABLE windows;--",
    "`}) DETACH DELETE n //",
    "$(id)`id`",
    "{{7*7}}${7*7}<script>alert(1)</script>",
    "%00%ff%",
    "a/b/c~d",
    "\u202egnp.exe",
    "\ufeff",
    "é" * 300,
    "x" * 513,
    "\x01" * 512,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1.7e308, 5e-324, 1e9)

Legal = Mapping[str, Sequence[Any]]
M = TypeVar("M", bound=Message)


def texts() -> st.SearchStrategy[str]:
    return st.sampled_from(TEXTS) | st.text(max_size=20)


def messages(kind: type[M], legal: Legal) -> st.SearchStrategy[M]:
    """legal: values by the name of a field, which lead past the first checks of a reader."""
    return _message(kind.DESCRIPTOR, legal, 0)  # type: ignore[return-value, arg-type]


@st.composite
def _message(draw: st.DrawFn, of: Descriptor, legal: Legal, depth: int) -> Message:
    message = GetMessageClass(of)()
    chosen: set[str] = set()
    for field in of.fields:
        one = field.containing_oneof
        if (one is not None and one.name in chosen) or draw(st.integers(0, 9)) < 2:
            continue
        if field.message_type is not None and depth >= DEEPEST:
            continue
        if one is not None:
            chosen.add(one.name)
        _set(draw, message, field, legal, depth)
    return message


def _set(draw: st.DrawFn, message: Message, field: FieldDescriptor, legal: Legal, depth: int) -> None:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        entries = getattr(message, field.name)
        for _ in range(draw(st.integers(0, 3))):
            name, content = draw(_value(key, legal, depth)), draw(_value(value, legal, depth))
            if value.message_type is None:
                entries[name] = content
            else:
                entries[name].CopyFrom(content)
    elif field.is_repeated:
        values = [draw(_value(field, legal, depth)) for _ in range(draw(st.integers(0, 3)))]
        getattr(message, field.name).extend(values)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(draw(_value(field, legal, depth)))
    else:
        setattr(message, field.name, draw(_value(field, legal, depth)))


def _value(field: FieldDescriptor, legal: Legal, depth: int) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return _message(field.message_type, legal, depth + 1)
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        hostile: st.SearchStrategy[Any] = st.sampled_from(
            [*(value.number for value in field.enum_type.values), 99, -1, 2**31 - 1]  # type: ignore[union-attr]
        )
    elif kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        hostile = st.sampled_from(FLOATS) | st.floats(0, 100)
    elif kind == FieldDescriptor.CPPTYPE_BOOL:
        hostile = st.booleans()
    elif kind == FieldDescriptor.CPPTYPE_STRING:
        hostile = st.binary(max_size=9) if field.type == FieldDescriptor.TYPE_BYTES else texts()
    else:
        hostile = _integer(kind)
    return st.sampled_from(legal[field.name]) | hostile if field.name in legal else hostile


def _integer(kind: int) -> st.SearchStrategy[int]:
    least, most = {
        FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
        FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
        FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
        FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    }[kind]
    return st.sampled_from(
        [each for each in (0, 1, 2, 100, -1, least, most, most // 2, 2**53) if least <= each <= most]
    )
