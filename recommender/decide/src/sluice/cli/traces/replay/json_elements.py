"""Splits one large JSON document into its elements without loading all of it.

The parser looks at brackets and strings only. An element with an error inside (a bad number, a missing comma) still
ends at its closing bracket, and the parser continues with the next one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sluice.cli.traces.replay.source import ByteSource

#: A longer element is not a trace. To read on would only fill the memory.
MAX_ELEMENT_BYTES = 256 * 1024 * 1024
_CHUNK = 1 << 16
# All bytes up to the next bracket, or up to a string that has no end yet. Possessive are single classes alone: Python
# 3.11.0 to 3.11.4 matches possessive groups wrong (gh-106052).
_BETWEEN = re.compile(rb'(?:[^][{}"]++|"[^"\\]*+(?:\\.[^"\\]*+)*")*', re.DOTALL)


@dataclass(frozen=True)
class Element:
    """The bytes of one JSON object, and the line (from 1) on which it begins."""

    line: int
    text: bytes


class TruncatedError(Exception):
    """The document ends inside an element or its envelope, or closes too many brackets."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def elements(stream: ByteSource, depth: int) -> Iterator[Element]:
    """Yields each object that opens `depth` brackets deep, over all documents in the stream.

    depth 0: documents, one after the other. 1: elements of an array. 2: elements of an array in an envelope
    (`{"data": [...]}`). Only arrays and objects count at that depth; other parts of the envelope are skipped. Raises
    TruncatedError at an end within brackets.
    """
    buffer = bytearray()
    position = 0
    line, counted = 1, 0  # the line of buffer[counted]
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
                raise TruncatedError(line + buffer.count(b"\n", counted, at), "closes a bracket that was never opened")
            if level == depth and begin >= 0:
                line, counted = line + buffer.count(b"\n", counted, begin), begin
                yield Element(line, bytes(buffer[begin:position]))
                begin = -1
        done = position if begin < 0 else begin
        line, counted = line + buffer.count(b"\n", counted, done), 0
        del buffer[:done]
        position -= done
        if begin >= 0:
            begin = 0
        if len(buffer) > MAX_ELEMENT_BYTES:
            raise TruncatedError(line, f"has a record longer than {MAX_ELEMENT_BYTES >> 20} MiB")
    if level > 0 or buffer.strip():
        raise TruncatedError(line, "ends in the middle of a record")
