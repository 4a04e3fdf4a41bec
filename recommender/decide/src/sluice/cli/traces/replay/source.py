"""Opens a file or standard input as a stream of bytes, and decompresses gzip."""

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast


class ByteSource(Protocol):
    """`read1` returns the bytes of a single read, so that bytes before damage are not lost with it."""

    def read1(self, size: int, /) -> bytes: ...


_GZIP_MAGIC = b"\x1f\x8b"
STDIN = "-"


@contextmanager
def open_source(path: str) -> Iterator[ByteSource]:
    """Opens `path` (`-` is standard input). The first two bytes tell gzip, not the name.

    Raises OSError when the file cannot be opened. Reading raises EOFError, zlib.error or gzip.BadGzipFile when the
    stream is damaged.
    """
    raw: IO[bytes] = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115 (closed below)
    try:
        buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, raw))
        if buffered.peek(2)[:2] == _GZIP_MAGIC:
            with gzip.GzipFile(fileobj=buffered) as unpacked:
                yield unpacked
        else:
            yield buffered
    finally:
        if path != STDIN:
            raw.close()
