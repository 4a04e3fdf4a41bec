"""Open-loop requests to a real application: they come whether or not those before were answered."""

import asyncio
import time

from .connection import Connection
from .users import TURN_S, Users

MOST_WAITING = 2_000
"""Requests under way; one that comes beyond is a failure. A machine has ports for some 28,000 connections."""


class Arrivals(Users):
    """``most * shape(t)`` requests a second at ``t`` seconds, a Poisson process. ``think_s`` counts for nothing.

    By thinning (Lewis and Shedler 1979): gaps at the rate ``most``, of which the share ``shape(t)`` are requests. A
    request takes a connection that is free, or a new one. ``Second.users`` is the most under way.
    """

    async def run(self, seconds: float) -> None:
        start = time.monotonic()
        self._free: list[Connection] = []
        due, way = 0.0, set[asyncio.Task[None]]()
        while (due := due + self._random.expovariate(self._most)) < seconds:
            while (wait := start + due - time.monotonic()) > 0:
                await asyncio.sleep(min(wait, TURN_S))
            turn = self._turn()
            turn.late_ms = max(turn.late_ms, -wait * 1e3)
            if self._random.random() >= self._shape(due):
                continue
            if len(way) >= MOST_WAITING:
                turn.responses, turn.failed = turn.responses + 1, turn.failed + 1
                continue
            task = asyncio.create_task(self._one())
            way.add(task)
            task.add_done_callback(way.discard)
            turn.users = max(turn.users, len(way))
        await asyncio.gather(*way)
        for connection in self._free:
            connection.close()
        self._second(self._now)

    async def _one(self) -> None:
        connection = self._free.pop() if self._free else self._connect()
        await self._request(connection)
        self._free.append(connection)
