"""A pattern for some minutes, with Sluice or at one size, and what each second of it brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.patterns.loop import Answer, Loop
from testbed.columns import Ints
from testbed.patterns.counting import Counting
from testbed.patterns.pattern import Pattern
from testbed.patterns.registry import PATTERNS
from testbed.patterns.span import Span
from testbed.patterns.windows import Known


@dataclass(frozen=True)
class Way:
    """How a run is read. delay_s: from a span's end until it is known. clock_s: how much the host's clock is ahead,
    beside what the pattern has. plainly: every span of a side counts."""

    delay_s: float = 2.0
    clock_s: float = 0.0
    plainly: bool = False


@dataclass(frozen=True)
class Ran:
    """Of each second, arrays of shape (seconds,): responses that were good, late and failed, and the size at its end.
    answers: () of a run at one size."""

    good: Ints
    late: Ints
    failed: Ints
    sizes: Ints
    answers: Sequence[Answer] = ()

    def per_minute(self, which: Ints) -> Ints:
        """Sums; what is left of a minute at the end is left out."""
        whole = len(which) // 60
        sums: Ints = which[: 60 * whole].reshape(whole, 60).sum(axis=1)
        return sums


def sized(name: str, seed: int, seconds: int, way: Way = Way(), size: int | None = None) -> Ran:
    """Sluice's, which begins with `size`; None: the operator's own."""
    kind = PATTERNS[name]
    known = Known(Counting(kind, way.plainly), way.delay_s)
    pattern = kind(seed, lambda span: known.add(span, pattern.engine.now), size, way.clock_s)
    loop = Loop(kind, known)
    sizes = []
    for second in range(1, seconds + 1):
        pattern.until(float(second))
        wanted = loop.decide(float(second), pattern.pool.size)
        if wanted is not None:
            pattern.pool.resize(wanted)
        sizes.append(pattern.pool.size)
    return _ran(pattern, seconds, sizes, loop.course)


def held(name: str, seed: int, seconds: int, size: int | None = None) -> Ran:
    """The same requests at one size."""
    pattern = PATTERNS[name](seed, _nowhere, size)
    pattern.until(float(seconds))
    return _ran(pattern, seconds, [pattern.pool.size] * seconds, ())


def _nowhere(span: Span) -> None:
    pass


def _ran(pattern: Pattern, seconds: int, sizes: list[int], course: Sequence[Answer]) -> Ran:
    return Ran(
        pattern.good_per_s(seconds),
        pattern.late_per_s(seconds),
        pattern.failed_per_s(seconds),
        np.array(sizes, dtype=np.int64),
        course,
    )
