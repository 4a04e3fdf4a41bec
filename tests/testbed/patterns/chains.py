"""A pool that is judged, and another one behind or before it that is the bottleneck."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from .pattern import Pattern, busy_s, log_normal
from .process import Process, Slot, pool_of, start
from .span import Kind


class Callee(Pattern):
    """200 threads, whose requests wait for one of 2 connections: 20 a second are done. Another 0.3 s they wait for
    nothing that is bounded. After 150 s the operator makes 10 connections of the 2, which is enough."""

    name = "callee2"
    size = 200
    users = 60
    slo_s = 4.0
    most = 400
    right = 200, 200
    mended_s: ClassVar[float] = 150.0

    def set_up(self) -> None:
        self.connections = pool_of(2)
        start(self.engine, self._mend(), self.mended_s)

    def _mend(self) -> Process:
        self.connections.resize(10)
        return
        yield

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, call, own = next(ids), next(ids), next(ids)
        yield Slot(self.pool)
        began = self.engine.now
        yield log_normal(rng, 0.3)
        yield Slot(self.connections)
        begun_s = self.engine.now
        yield log_normal(rng, 0.1)
        self.connections.release()
        self.pool.release()
        now = self.engine.now
        self.span(trace, next(ids), own, "SELECT", Kind.CLIENT, begun_s, now, peer="stock-db")
        self.span(trace, own, call, "GET /stock", Kind.SERVER, began, now)
        self.called(trace, call, came)
        self.answered(came)


class MaxSockets(Pattern):
    """200 threads, and a caller whose agent has 3 sockets: its CLIENT spans begin before it has one, as Node's do.
    After 150 s it has 100."""

    name = "maxsockets"
    size = 200
    users = 60
    slo_s = 2.5
    most = 400
    right = 200, 200
    mended_s: ClassVar[float] = 150.0

    def set_up(self) -> None:
        self.sockets = pool_of(3)
        start(self.engine, self._mend(), self.mended_s)

    def _mend(self) -> Process:
        self.sockets.resize(100)
        return
        yield

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, call, own = next(ids), next(ids), next(ids)
        yield Slot(self.sockets)
        yield Slot(self.pool)
        began = self.engine.now
        yield log_normal(rng, busy_s(self.pool.in_use, 0.005, 0.095))
        self.pool.release()
        self.sockets.release()
        self.span(trace, own, call, "GET /rates", Kind.SERVER, began, self.engine.now)
        self.called(trace, call, came)
        self.answered(came)
