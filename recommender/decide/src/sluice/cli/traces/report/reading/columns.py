"""Spans as columns: a few numbers a span, and what spans of one operation share once."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sluice.cli.traces.report.facts.facts import SpanFacts

Ints = NDArray[np.int64]


@dataclass
class Rows:
    """Spans of one record. Ids are 16 and 8 bytes, a parent of 8 zeros is none; times in ns since 1970. facts: numbers
    of SpanFacts. linked: 1 where a link leads to the span's own trace."""

    traces: list[bytes] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    parents: list[bytes] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Spans:
    """Columns of equal length, in the order of the files. trace: number of the trace; facts: number in `facts_of`."""

    trace: Ints
    span_id: NDArray[np.uint64]
    parent_id: NDArray[np.uint64]
    start_ns: Ints
    end_ns: Ints
    facts: Ints
    linked: NDArray[np.bool_]
    facts_of: Sequence[SpanFacts]
    trace_ids: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.trace)


class Columns:
    """Collects rows; `add` takes all of a record or, where it raises, nothing."""

    def __init__(self) -> None:
        self._trace, self._facts, self._linked = array("q"), array("q"), bytearray()
        self._ids, self._parents = bytearray(), bytearray()
        self._starts, self._ends = array("Q"), array("Q")
        self._traces: dict[bytes, int] = {}
        self._numbers: dict[SpanFacts, int] = {}

    def __len__(self) -> int:
        return len(self._trace)

    @property
    def traces(self) -> int:
        return len(self._traces)

    def number(self, facts: SpanFacts) -> int:
        """The number of these facts; equal facts have one number."""
        return self._numbers.setdefault(facts, len(self._numbers))

    def add(self, rows: Rows) -> None:
        """Raises OverflowError where a time is not in 0 .. 2^64-1."""
        starts, ends = array("Q", rows.starts), array("Q", rows.ends)
        traces = self._traces
        self._trace.extend([traces.setdefault(trace, len(traces)) for trace in rows.traces])
        self._ids += b"".join(rows.ids)
        self._parents += b"".join(rows.parents)
        self._starts += starts
        self._ends += ends
        self._facts.extend(rows.facts)
        self._linked += bytes(rows.linked)

    def spans(self) -> Spans:
        """All spans so far. Times after 2262 are negative: `usable` removes them."""
        return Spans(
            trace=np.frombuffer(self._trace, dtype=np.int64),
            span_id=np.frombuffer(bytes(self._ids), dtype=">u8").astype(np.uint64),
            parent_id=np.frombuffer(bytes(self._parents), dtype=">u8").astype(np.uint64),
            start_ns=np.frombuffer(self._starts, dtype=np.int64),
            end_ns=np.frombuffer(self._ends, dtype=np.int64),
            facts=np.frombuffer(self._facts, dtype=np.int64),
            linked=np.frombuffer(bytes(self._linked), dtype=np.bool_),
            facts_of=list(self._numbers),
            trace_ids=list(self._traces),
        )
