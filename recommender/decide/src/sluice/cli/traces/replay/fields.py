"""Parses ids and times of JSON formats. Each function raises BadRecordError that names the field (`where`)."""

from typing import Any

from sluice.cli.traces.replay.trace import BadRecordError

_MAX_NS = 2**64 - 1


def id_bytes(value: Any, length: int, where: str) -> bytes:
    """The bytes of an id in hexadecimal digits, with or without leading zeros; never all zeros."""
    if not isinstance(value, str) or not value:
        raise BadRecordError(f"{where} is missing")
    try:
        # bytes.fromhex also accepts white space, which an id must not have.
        raw = bytes.fromhex(value.zfill(2 * length)) if len(value) <= 2 * length and value.isalnum() else b""
    except ValueError:
        raw = b""
    if len(raw) != length:
        raise BadRecordError(f"{where} {value[:64]!r} is not 1 to {2 * length} hexadecimal digits")
    if not any(raw):
        raise BadRecordError(f"{where} is all zeros")
    return raw


def integer(value: Any, where: str) -> int:
    """A whole number; 1.0 is one."""
    if value is None:
        raise BadRecordError(f"{where} is missing")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRecordError(f"{where} is {value!r}, not a whole number of microseconds")
    return value


def time_ns(time_us: int, where: str) -> int:
    """Microseconds since 1970, converted to nanoseconds."""
    time_ns = time_us * 1000
    if not 0 <= time_ns <= _MAX_NS:
        raise BadRecordError(f"{where}: {time_us} us is outside 1970 .. 2554")
    return time_ns
