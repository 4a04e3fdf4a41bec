"""Reads files of OTLP protobuf: messages with their lengths before them, as the collector's file exporter writes them
(`format: proto`: 4 bytes, big endian)."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from sluice.cli.traces.replay.records import Skipped
from sluice.cli.traces.replay.source import STDIN, ByteSource, open_source
from sluice.cli.traces.replay.trace import BadRecordError

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
_LENGTH_BYTES = 4


def is_framed(path: str) -> bool:
    """Whether the file begins with a length and a list of resources, which JSON does not.

    False for standard input and for pipes, which can be read only once.
    """
    if path == STDIN or not Path(path).is_file():
        return False
    with open_source(path) as stream:
        try:
            head = _take(stream, _LENGTH_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return False
    return len(head) == _LENGTH_BYTES + 1 and head[0] < 0x10 and head[_LENGTH_BYTES] == 0x0A


def read_framed(path: str, convert: Callable[[Any], int], kind: type[Message] = TracesData) -> Iterator[int | Skipped]:
    """What `convert` returns for each message, and a Skipped for a message that is none. kind: its type.

    The number of a message stands in place of a line. Raises OSError when the file cannot be opened.
    """
    number = 0
    with open_source(path) as stream:
        try:
            while head := _take(stream, _LENGTH_BYTES):
                number += 1
                length = int.from_bytes(head, "big")
                if len(head) < _LENGTH_BYTES or length > MAX_MESSAGE_BYTES:
                    yield Skipped(path, number, f"has no length of 0 .. {MAX_MESSAGE_BYTES >> 20} MiB before a message")
                    return
                text = _take(stream, length)
                if len(text) < length:
                    yield Skipped(path, number, "ends in the middle of a message")
                    return
                try:
                    yield convert(kind.FromString(text))
                except DecodeError:
                    yield Skipped(path, number, f"is not a protobuf message of OTLP ({kind.DESCRIPTOR.name})")
                except BadRecordError as error:
                    yield Skipped(path, number, str(error))
        except EOFError:
            yield Skipped(path, number, "after this message the gzip stream ends before its end: the file is cut off")
        except (zlib.error, gzip.BadGzipFile) as error:
            yield Skipped(path, number, f"after this message the gzip stream is damaged: {error}")


def _take(stream: ByteSource, length: int) -> bytes:
    """`length` bytes; fewer at the end."""
    parts, missing = [], length
    while missing > 0 and (part := stream.read1(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
