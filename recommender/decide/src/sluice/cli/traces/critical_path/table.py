"""Prints sections for people: a block for each path."""

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

from sluice.cli.printable import printable

Section = dict[str, Any]


class Lines:
    """Splits a stream of chunks into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, chunk: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return lines


class PathTable:
    """Collects the sections of a path, and returns its block when the next path begins."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._path: list[Section] = []

    def take(self, chunk: bytes) -> Iterator[str]:
        """The blocks that this chunk of JSON lines completes."""
        for line in self._lines.take(chunk):
            section = json.loads(line)
            if self._path and _path_of(section) != _path_of(self._path[0]):
                yield block(self._path)
                self._path = []
            self._path.append(section)

    def last(self) -> Iterator[str]:
        if self._path:
            yield block(self._path)


def _path_of(section: Section) -> tuple[str, str]:
    return section["trace_id"], section["root_span_id"]


def block(sections: list[Section]) -> str:
    """A heading and a line a section: start since the path's start, own time and its share, service, operation.

    Times in ms with three decimals. `sections` must not be empty.
    """
    begin, end = sections[0]["start_us"], sections[-1]["end_us"]
    note = "   incomplete: the root's parent is missing" if sections[0]["incomplete"] else ""
    rows = [
        (
            f"{(section['start_us'] - begin) / 1000:.3f}",
            f"{(section['end_us'] - section['start_us']) / 1000:.3f}",
            f"{(section['end_us'] - section['start_us']) / (end - begin):.1%}",
            printable(section["service"]),
            printable(section["operation"]),
        )
        for section in sections
    ]
    return "".join(
        itertools.chain(
            [f"trace {sections[0]['trace_id']}   {(end - begin) / 1000:.3f} ms{note}\n"],
            _aligned([("START MS", "SELF MS", "SHARE", "SERVICE", "OPERATION"), *rows]),
            ["\n"],
        )
    )


def _aligned(rows: list[tuple[str, str, str, str, str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for start, self_time, share, service, operation in rows:
        yield (
            f"  {start:>{widths[0]}}  {self_time:>{widths[1]}}  {share:>{widths[2]}}  {service:<{widths[3]}}  "
            f"{operation}".rstrip()
            + "\n"
        )
