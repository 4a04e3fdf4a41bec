"""A service with one pool that can be resized, its users, and what they get."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import ClassVar

import numpy as np

from ..columns import Ints
from ..engine import Engine
from .process import Process, pool_of, start
from .span import Kind, Span

CV = 0.4


def log_normal(rng: Random, mean: float, cv: float = CV) -> float:
    """Of this mean and coefficient of variation."""
    variance = math.log(1 + cv * cv)
    return rng.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))


def busy_s(in_flight: int, cpu_s: float, wait_s: float, cores: float = 2.0, crosstalk: float = 0.001) -> float:
    """What a request takes on average while so many are in flight: it waits, and shares the cores with the others.

    Worked: 16 in flight, 20 ms of CPU on 2 cores beside 80 ms: 0.08 + 0.02 * 8 * (1 + 0.001 * 16 * 15) = 0.278 s.
    """
    return wait_s + cpu_s * max(1.0, in_flight / cores) * (1 + crosstalk * in_flight * (in_flight - 1))


class Pattern:
    """`request` is what a user does; a pattern has no other state than its pool and what `set_up` makes.

    size: of the pool at first, as its operator has it. side, peer: which soft resource it is. users, think_s: closed
    loop, exponential. ramp_s: over which they come. ahead_s: how much the host's clock is ahead of the reader's.
    slo_s: a response that takes longer is not good; nor is one that failed. right: the least and the largest size that
    is right from the first second on, None where sizes have to be tried.
    """

    name: ClassVar[str]
    size: ClassVar[int] = 16
    side: ClassVar[str] = "server"
    peer: ClassVar[str] = ""
    users: ClassVar[int] = 80
    think_s: ClassVar[float] = 1.0
    ramp_s: ClassVar[float] = 1.0
    slo_s: ClassVar[float] = 1.0
    most: ClassVar[int] = 128
    ahead_s: ClassVar[float] = 0.0
    right: ClassVar[tuple[int, int] | None] = None

    def __init__(
        self,
        seed: int,
        emit: Callable[[Span], None] = lambda span: None,
        size: int | None = None,
        ahead_s: float = 0.0,
    ) -> None:
        """ahead_s: more than the pattern's own."""
        self.engine, self._ahead_s = Engine(), self.ahead_s + ahead_s
        self.pool = pool_of(size or self.size)
        self._emit, self._seed, self._ids = emit, seed, count(1)
        self._good_s: list[float] = []
        self._failed_s: list[float] = []
        self._late_s: list[float] = []
        self.set_up()
        self.come(self.users, 0.0, self.ramp_s)

    def set_up(self) -> None:
        """What there is beside the users."""

    def request(self, rng: Random) -> Process:
        """Ends with `answered`."""
        raise NotImplementedError

    def until(self, second: float) -> None:
        self.engine.run_until(second)

    def come(self, users: int, at_s: float, over_s: float) -> None:
        """So many more users, from `at_s` on."""
        for user in range(users):
            rng = self.stream("user", at_s, user)
            start(self.engine, self._user(rng), at_s + rng.random() * over_s)

    def arrive(self, per_s: float, from_s: float = 0.0, to_s: float = math.inf) -> None:
        """Beside the users: requests that come whatever becomes of those before them, Poisson."""
        start(self.engine, self._arrivals(per_s, from_s, to_s), from_s)

    def _arrivals(self, per_s: float, from_s: float, to_s: float) -> Process:
        rng = self.stream("arrivals", from_s)
        for number in count():
            yield rng.expovariate(per_s)
            if self.engine.now >= to_s:
                return
            start(self.engine, self.request(self.stream("arrival", from_s, number)))

    def stream(self, *of: object) -> Random:
        return Random(f"{self._seed}/{'/'.join(map(str, of))}")

    def answered(self, since_s: float, failed: bool = False) -> None:
        now = self.engine.now
        ends = self._failed_s if failed else self._good_s if now - since_s <= self.slo_s else self._late_s
        ends.append(now)

    def good_per_s(self, seconds: int) -> Ints:
        """Good responses in each second, shape (seconds,)."""
        return _histogram(self._good_s, seconds)

    def failed_per_s(self, seconds: int) -> Ints:
        return _histogram(self._failed_s, seconds)

    def late_per_s(self, seconds: int) -> Ints:
        return _histogram(self._late_s, seconds)

    def new_ids(self) -> Iterator[int]:
        """Of spans, and of traces."""
        return self._ids

    def span(
        self,
        trace_id: int,
        span_id: int,
        parent_id: int,
        name: str,
        kind: Kind,
        start_s: float,
        end_s: float,
        *,
        service: str = "",
        peer: str = "",
        failed: bool = False,
        attributes: tuple[tuple[str, str | int], ...] = (),
    ) -> None:
        """service: the pattern's own, unless another is named, on a host whose clock is right."""
        off = self._ahead_s if not service else 0.0
        owner = service or self.name
        self._emit(
            Span(owner, trace_id, span_id, parent_id, name, kind, start_s + off, end_s + off, peer, failed, attributes)
        )

    def called(self, trace_id: int, call_id: int, since_s: float, failed: bool = False) -> None:
        """The spans of the gateway before the service: its CLIENT span `call_id` since `since_s`, and its own."""
        gateway, root, now = f"gateway-of-{self.name}", next(self._ids), self.engine.now
        self.span(
            trace_id, call_id, root, "GET", Kind.CLIENT, since_s, now, service=gateway, peer=self.name, failed=failed
        )
        edges = since_s - 1e-3, now + 1e-3
        self.span(trace_id, root, 0, "GET /", Kind.SERVER, *edges, service=gateway, failed=failed)

    def _user(self, rng: Random) -> Process:
        while True:
            yield from self.request(rng)
            yield rng.expovariate(1 / self.think_s)


def _histogram(at_s: list[float], seconds: int) -> Ints:
    counted: Ints = np.histogram(at_s, bins=np.arange(seconds + 1.0))[0].astype(np.int64)
    return counted
