"""Reads the head of a stream and returns a stream that still has it."""

import gzip
import io
import zlib
from typing import Any

from sluice.cli.traces.replay.source import ByteSource

_HEAD_BYTES = 1 << 16
_UTF8_MARK = b"\xef\xbb\xbf"


def take_head(stream: ByteSource) -> tuple[bytes, io.BufferedReader]:
    """The first 64 KiB (less only at the end, or where the stream is damaged) and a stream that begins with them.

    Drops a byte order mark. Raises an error of the look-ahead only when a reader reaches the damage.
    """
    head = b""
    damage: Exception | None = None
    while len(head) < _HEAD_BYTES:
        try:
            chunk = stream.read1(_HEAD_BYTES - len(head))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            damage = error
            break
        if not chunk:
            break
        head += chunk
    head = head.removeprefix(_UTF8_MARK)
    return head, io.BufferedReader(_Rejoined(head, stream, damage), buffer_size=_HEAD_BYTES)


class _Rejoined(io.RawIOBase):
    def __init__(self, head: bytes, rest: ByteSource, damage: Exception | None) -> None:
        super().__init__()
        self._head = head
        self._rest = rest
        self._damage = damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        if self._head:
            chunk, self._head = self._head[:size], self._head[size:]
        elif self._damage is not None:
            raise self._damage
        else:
            chunk = self._rest.read1(size)
        buffer[: len(chunk)] = chunk
        return len(chunk)
