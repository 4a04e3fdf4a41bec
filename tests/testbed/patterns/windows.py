"""A pool's buckets of 100 ms as a reader knows them: spans come at their end, and `delay_s` later."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ..columns import Ints
from .counting import Counting
from .span import Span

BUCKET_MS = 100
BUCKET_NS = BUCKET_MS * 1_000_000
# The reader's clock at the start of a run, so that a host whose clock is behind has no time before 0.
ORIGIN_S = 60


def reader_ms(second: float) -> int:
    """Of a second of the run."""
    return round((second + ORIGIN_S) * 1_000)


@dataclass(frozen=True)
class Call:
    """A call of the pool's service that ended: by the reader's clock, and what it took, of its caller's CLIENT span."""

    end_s: float
    took_s: float


@dataclass
class Columns:
    """By bucket since the reader's time 0, each of shape (n,); they grow.

    busy_ns, callers_ns: sum over spans of overlap(span, bucket), of the pool's own and of its callers'.
    """

    busy_ns: Ints = field(default_factory=lambda: np.zeros(4096, dtype=np.int64))
    completions: Ints = field(default_factory=lambda: np.zeros(4096, dtype=np.int64))
    errors: Ints = field(default_factory=lambda: np.zeros(4096, dtype=np.int64))
    callers_ns: Ints = field(default_factory=lambda: np.zeros(4096, dtype=np.int64))

    def reach(self, bucket: int) -> None:
        while bucket >= len(self.busy_ns):
            for name in self.__dataclass_fields__:
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))


class Known:
    """`add` takes spans in the order of their ends; `read` has what came by then."""

    def __init__(self, counting: Counting, delay_s: float) -> None:
        self.columns = Columns()
        self.calls: list[Call] = []
        self._counting, self._delay_s = counting, delay_s
        self._under_way: deque[tuple[float, Span]] = deque()

    def add(self, span: Span, now_s: float) -> None:
        """now_s: when it ended, by the run's clock; its own may be another."""
        self._under_way.append((now_s + self._delay_s, span))

    def read(self, now_s: float) -> Columns:
        came = []
        while self._under_way and self._under_way[0][0] <= now_s:
            came.append(self._under_way.popleft()[1])
        for span in self._counting.own(came):
            bucket = self._overlaps(span, "busy_ns")
            self.columns.completions[bucket] += 1
            self.columns.errors[bucket] += span.failed
        for span in self._counting.callers(came):
            self._overlaps(span, "callers_ns")
            self.calls.append(Call(span.end_s + ORIGIN_S, span.end_s - span.start_s))
        return self.columns

    def _overlaps(self, span: Span, name: str) -> int:
        """Spreads it over its buckets; the one that it ends in.

        Worked, in ms: 50 to 230 has 50 of the first bucket, 100 of the second, 30 of the third.
        """
        start_ns, end_ns = (round((at + ORIGIN_S) * 1e9) for at in (max(span.start_s, -ORIGIN_S), span.end_s))
        first, last = start_ns // BUCKET_NS, end_ns // BUCKET_NS
        self.columns.reach(last)
        column: Ints = getattr(self.columns, name)
        column[first:last] += BUCKET_NS
        column[first] -= start_ns - first * BUCKET_NS
        column[last] += end_ns - last * BUCKET_NS
        return last
