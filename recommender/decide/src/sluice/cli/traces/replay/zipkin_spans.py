"""Joins consecutive spans of one trace: Zipkin's lists are of spans."""

from collections.abc import Iterator
from typing import TypeVar

from sluice.cli.traces.replay.trace import LoneSpan, Trace, joined

Item = TypeVar("Item")
#: Of a longer trace, each part counts as a trace, so that memory stays bounded.
MOST_SPANS = 10_000


class ZipkinSpans:
    """Call `take` with each item, and `rest` at the end. An item that is not a span ends the current trace."""

    def __init__(self) -> None:
        self._parts: list[LoneSpan] = []

    def take(self, item: Item) -> Iterator[Item | Trace]:
        if isinstance(item, LoneSpan):
            if self._parts and (_trace_id(self._parts[0]) != _trace_id(item) or len(self._parts) >= MOST_SPANS):
                yield from self.rest()
            self._parts.append(item)
            return
        yield from self.rest()
        yield item

    def rest(self) -> Iterator[Trace]:
        if self._parts:
            yield joined(self._parts)
        self._parts = []


def _trace_id(part: LoneSpan) -> bytes:
    return next(span.trace_id for scope in part.resource_spans[0].scope_spans for span in scope.spans)
