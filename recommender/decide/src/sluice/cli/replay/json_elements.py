"""Cuts one large JSON document into its elements without reading it whole.

Only brackets and strings are looked at, so an element that is broken inside (a bad number, a missing comma)
still ends where its brackets close, and the next one is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sluice.cli.replay.source import ByteSource

#: An element longer than this is no trace; reading on would only fill the memory.
MAX_ELEMENT_BYTES = 256 * 1024 * 1024
_CHUNK = 1 << 16
# Everything up to the next bracket, or up to a string whose end is not there yet.
_BETWEEN = re.compile(rb'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)


@dataclass(frozen=True)
class Element:
    """The bytes of one JSON object, and the line (from 1) on which it begins."""

    line: int
    text: bytes


class TruncatedError(Exception):
    """The document ends, or has too many brackets closed, inside an element or its envelope."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def elements(stream: ByteSource, depth: int) -> Iterator[Element]:
    """Yields each object that opens `depth` brackets deep, over all documents in the stream.

    depth 0: documents one after the other; 1: the elements of an array; 2: those of an array inside an envelope
    (`{"data": [...]}`); only arrays and objects are yielded at the wanted depth, whatever else stands in the
    envelope is passed over. Raises TruncatedError at an end within brackets.
    """
    buffer = bytearray()
    position = 0
    line = 1  # of buffer[0]
    level = 0
    begin = -1  # where the current element starts in buffer; -1 between elements
    while chunk := stream.read1(_CHUNK):
        buffer += chunk
        while True:
            if (between := _BETWEEN.match(buffer, position)) is not None:
                position = between.end()
            at = position
            if at == len(buffer) or buffer[at] == 0x22:
                break
            mark = buffer[at]
            position = at + 1
            if mark in b"[{":
                if level == depth and mark == 0x7B:
                    begin = at
                level += 1
                continue
            level -= 1
            if level < 0:
                raise TruncatedError(line + buffer.count(b"\n", 0, at), "closes a bracket that was never opened")
            if level == depth and begin >= 0:
                yield Element(line + buffer.count(b"\n", 0, begin), bytes(buffer[begin:position]))
                begin = -1
        done = position if begin < 0 else begin
        line += buffer.count(b"\n", 0, done)
        del buffer[:done]
        position -= done
        if begin >= 0:
            begin = 0
        if len(buffer) > MAX_ELEMENT_BYTES:
            raise TruncatedError(line, f"has a record longer than {MAX_ELEMENT_BYTES >> 20} MiB")
    if level > 0 or buffer.strip():
        raise TruncatedError(line, "ends in the middle of a record")
