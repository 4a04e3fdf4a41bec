"""Protobuf's wire format by hand: for messages that no library would write, and for those too large for one."""

from collections.abc import Iterable

VARINT, FIXED64, LENGTH, START_GROUP, END_GROUP, FIXED32 = range(6)
#: A value of each wire type, six and seven being none.
VALUES = {VARINT: b"\x01", FIXED64: bytes(8), LENGTH: b"\x00", FIXED32: bytes(4)}


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def tag(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def field(number: int, content: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return tag(number, LENGTH) + varint(len(content)) + content


def mistyped(number: int) -> Iterable[tuple[int, bytes]]:
    """A field that should be of bytes, text or a message, as each other wire type there is."""
    for wire_type in range(8):
        if wire_type != LENGTH:
            yield wire_type, tag(number, wire_type) + VALUES.get(wire_type, b"")
