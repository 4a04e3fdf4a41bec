"""Closed-loop users of a real application: what they saw, second by second, and their CLIENT spans."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..spans import CLIENT, Span, SpanSite
from ..windows import latency_index
from .connection import Connection

TURN_S = 0.05
"""How often the number of users follows the shape."""


@dataclass(slots=True)
class Second:
    """One second of the wall clock, by when responses arrived."""

    at: int
    """Unix seconds."""
    users: int = 0
    """The most present."""
    responses: int = 0
    good: int = 0
    """Without failure, within the threshold."""
    failed: int = 0
    latency_ms: float = 0.0
    """Sum over the responses: the mean is this / responses."""
    latency: dict[int, int] = field(default_factory=dict)
    """Responses without failure, by ``latency_index`` of their time."""
    late_ms: float = 0.0
    """The most by which a turn of this program came late: what its own slowness can add to a response time."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Users:
    """``most * shape(t)`` users at ``t`` seconds, each with a connection: request, response, think, again.

    Think times are exponential with mean ``think_s``. ``span`` is given a CLIENT span per request, which begins
    before the request is written and ends when the response is read, as an agent in the caller would make it. Not
    ``traced``: requests name no trace, so that the service begins it.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        path: str,
        peer: str,
        most: int,
        shape: Callable[[float], float],
        *,
        think_s: float = 0.3,
        threshold_ms: float = 250.0,
        seed: int = 1,
        span: Callable[[Span], None] = lambda span: None,
        second: Callable[[Second], None] = lambda second: None,
        traced: bool = True,
    ) -> None:
        self._connect, self._path, self._most, self._shape = connect, path, most, shape
        self._think_s, self._threshold_ms = think_s, threshold_ms
        self._random = random.Random(seed)
        self._span, self._second, self._traced = span, second, traced
        attributes = (("http.request.method", "GET"), ("url.path", path), ("peer.service", peer))
        self._site = SpanSite("users", CLIENT, peer, "GET", attributes, status_attribute=True)
        self._wanted = 0
        self._now = Second(int(time.time()))

    async def run(self, seconds: float) -> None:
        """Returns when the last of the users has its response."""
        start = time.monotonic()
        present: list[asyncio.Task[None]] = []
        due = start
        while (elapsed := time.monotonic() - start) < seconds:
            self._wanted = round(self._most * self._shape(elapsed))
            present = [task for task in present if not task.done()]
            present += [asyncio.create_task(self._user(n)) for n in range(len(present), self._wanted)]
            self._turn().late_ms = max(self._now.late_ms, (time.monotonic() - due) * 1e3)
            self._now.users = max(self._now.users, self._wanted)
            due = max(due + TURN_S, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
        self._wanted = 0
        await asyncio.gather(*present)
        self._second(self._now)

    async def _user(self, number: int) -> None:
        connection = self._connect()
        try:
            await self._think()
            while number < self._wanted:
                await self._request(connection)
                await self._think()
        finally:
            connection.close()

    async def _think(self) -> None:
        await asyncio.sleep(self._random.expovariate(1 / self._think_s))

    async def _request(self, connection: Connection) -> None:
        trace, span = self._random.getrandbits(128) or 1, self._random.getrandbits(64) or 1
        start_ns = time.time_ns()
        try:
            status = await connection.get(self._path, f"00-{trace:032x}-{span:016x}-01" if self._traced else "")
        except OSError:
            status = 0
        end_ns = time.time_ns()
        failed = status != 200
        self._span(Span(trace, span, 0, self._site, "users-1", start_ns, end_ns, failed))
        turn, latency_ms = self._turn(), (end_ns - start_ns) / 1e6
        turn.responses += 1
        turn.failed += failed
        if not failed:
            index = latency_index(end_ns - start_ns)
            turn.latency[index] = turn.latency.get(index, 0) + 1
        turn.good += not failed and latency_ms <= self._threshold_ms
        turn.latency_ms += latency_ms

    def _turn(self) -> Second:
        """The second that it is now; tells of the one that ended."""
        at = int(time.time())
        if at != self._now.at:
            self._second(self._now)
            self._now = Second(at, self._wanted)
        return self._now
