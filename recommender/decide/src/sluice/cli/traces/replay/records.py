"""Reads traces and bad records from files, in the order of the file, with one record in memory at a time."""

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from sluice.cli.traces.replay.formats import convert
from sluice.cli.traces.replay.json_elements import MAX_ELEMENT_BYTES, Element, TruncatedError, elements
from sluice.cli.traces.replay.rejoin import take_head
from sluice.cli.traces.replay.source import STDIN, ByteSource, open_source
from sluice.cli.traces.replay.trace import BadRecordError, Trace
from sluice.cli.traces.replay.zipkin_spans import ZipkinSpans

T = TypeVar("T")
_ZIPKIN_TRACES = re.compile(rb"\s*\[\s*\[")
_JAEGER_EXPORT = re.compile(rb'\s*\{\s*"data"\s*:\s*\[')
_OTLP_MESSAGE = re.compile(rb'\s*\{\s*"(resourceSpans|resource_spans)"\s*:\s*\[')


@dataclass(frozen=True)
class Skipped:
    """A record that is not a trace: its place, and the reason to skip it."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


def read_traces(path: str) -> Iterator[Trace | Skipped]:
    """Reads traces from JSON of Jaeger, OTLP, Tempo or Zipkin, as `read_records` does."""
    spans = ZipkinSpans()
    for item in read_records(path, convert):
        yield from spans.take(item)
    yield from spans.rest()


def read_records(path: str, converter: Callable[[Any], Iterable[T]]) -> Iterator[T | Skipped]:
    """Reads JSON: a record a line, an array, or one document; gzipped or not. Yields the items of each record.

    `converter` gets a parsed record, may change it, and raises BadRecordError. Yields a Skipped for a broken record and
    reads on. A damaged gzip stream ends the file with a Skipped. Raises OSError when the file cannot be opened.
    """
    name = "(stdin)" if path == STDIN else path
    line, empty = 1, True
    with open_source(path) as stream:
        try:
            for element in _records(stream):
                line, empty = element.line, False
                yield from _converted(name, element, converter)
            if empty:
                yield Skipped(name, line, "holds no record")
        except TruncatedError as error:
            yield Skipped(name, error.line, str(error))
        except EOFError:
            yield Skipped(name, line, "after this record the gzip stream ends before its end: the file is cut off")
        except (zlib.error, gzip.BadGzipFile) as error:
            yield Skipped(name, line, f"after this record the gzip stream is damaged: {error}")


def _records(source: ByteSource) -> Iterator[Element]:
    head, stream = take_head(source)
    first = head.lstrip()[:1]
    if _ZIPKIN_TRACES.match(head):
        return elements(stream, depth=2)
    if first == b"[":
        return elements(stream, depth=1)
    if _JAEGER_EXPORT.match(head):
        return elements(stream, depth=2) if not _is_lines(head) else _lines(stream)
    if first == b"{" and not _is_lines(head) and b"\n" in head:
        # One document on several lines.
        if _OTLP_MESSAGE.match(head):
            return (Element(e.line, b'{"resourceSpans":[' + e.text + b"]}") for e in elements(stream, depth=2))
        return elements(stream, depth=0)
    return _lines(stream)


def _is_lines(head: bytes) -> bool:
    """Whether each line is a record: the first is JSON by itself, or the second starts a new object.

    The second test tells a broken first line from a document on several lines, whose lines are indented.
    """
    first, newline, rest = head.lstrip().partition(b"\n")
    if not newline:
        return False
    try:
        json.loads(first)
    except ValueError:
        return rest.lstrip(b"\r\n").startswith(b"{")
    # A single line may be one large document, which is split into its elements.
    return bool(rest.strip())


def _lines(stream: io.BufferedReader) -> Iterator[Element]:
    number = 0
    while line := stream.readline(MAX_ELEMENT_BYTES):
        number += 1
        if len(line) == MAX_ELEMENT_BYTES and not line.endswith(b"\n"):
            raise TruncatedError(number, f"has a record longer than {MAX_ELEMENT_BYTES >> 20} MiB")
        if line.strip():
            yield Element(number, line)


def _converted(name: str, element: Element, converter: Callable[[Any], Iterable[T]]) -> Iterator[T | Skipped]:
    try:
        record = json.loads(element.text)
    except (ValueError, RecursionError) as error:
        yield Skipped(name, element.line, f"is not JSON: {error}")
        return
    for part in _parts(record):
        try:
            yield from converter(part)
        except BadRecordError as error:
            yield Skipped(name, element.line, str(error))
        except (UnicodeEncodeError, SystemError):
            # JSON can hold half of a surrogate pair ("\ud800"), protobuf cannot. Its setters raise the first error, its
            # parser of JSON the second.
            yield Skipped(name, element.line, "holds text that is not Unicode: half of a surrogate pair")


def _parts(record: Any) -> list[Any]:
    """A line may itself be an array, an array of arrays (Zipkin's traces), or an export of the Jaeger UI."""
    if isinstance(record, dict) and isinstance(data := record.get("data"), list):
        return data
    if not isinstance(record, list):
        return [record]
    return [part for element in record for part in (element if isinstance(element, list) else [element])]
