"""Connections of a client."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from .pattern import Pattern, busy_s, log_normal
from .process import Process, Slot
from .span import Kind

POSTGRESQL = (("db.system", "postgresql"),)


class OfDatabase(Pattern):
    side = "client"

    def queried(self, trace: int, own: int, name: str, start_s: float, end_s: float) -> None:
        """The CLIENT span of a query, or of acquiring a connection for it."""
        edges, span = (start_s, end_s), next(self.new_ids())
        self.span(trace, span, own, name, Kind.CLIENT, *edges, peer=self.peer, attributes=POSTGRESQL)


class PgPlain(OfDatabase):
    """The control: a CLIENT span a query, which begins when the connection is there; 40 are too many."""

    name = "pgplain"
    size = 40
    peer = "items-db"
    acquires: ClassVar[bool] = False

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, own = next(ids), next(ids)
        yield 0.002
        begun_s = self.engine.now
        yield Slot(self.pool)
        began = self.engine.now
        yield log_normal(rng, busy_s(self.pool.in_use, 0.02, 0.08))
        self.pool.release()
        now = self.engine.now
        if self.acquires:
            self.queried(trace, own, "pg-pool.connect", begun_s, began)
        self.queried(trace, own, "pg.query:SELECT", began, now)
        self.span(trace, own, 0, "GET /items", Kind.SERVER, came, now + 1e-3)
        self.answered(came)


class PgNode(PgPlain):
    """Beside it a CLIENT span for the wait for a connection: opentelemetry-js-contrib #3279."""

    name = "pgnode"
    acquires = True


class Limited(Pattern):
    """The callee takes 12 at once, and answers 429 in 4 ms beyond: envoy #16610."""

    name = "agg"
    size = 12
    side = "client"
    peer = "quota-api"
    users = 120
    slo_s = 2.0
    takes: ClassVar[int] = 12

    def set_up(self) -> None:
        self.inside = 0

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, own = next(ids), next(ids)
        yield Slot(self.pool)
        began, failed = self.engine.now, self.inside >= self.takes
        if failed:
            yield 0.004
        else:
            self.inside += 1
            yield log_normal(rng, 0.2)
            self.inside -= 1
        self.pool.release()
        now, code = self.engine.now, (("http.response.status_code", 429 if failed else 200),)
        edges, peer = (began, now), self.peer
        self.span(trace, next(ids), own, "POST", Kind.CLIENT, *edges, peer=peer, failed=failed, attributes=code)
        self.span(trace, own, 0, "POST /quota", Kind.SERVER, came, now + 1e-3, failed=failed)
        self.answered(came, failed)


class Held(OfDatabase):
    """SQLAlchemy, a pool of 4: a transaction holds its connection for 0.36 s of work and a query of 40 ms, and only the
    query has a span. 14 requests/s come, 10 a second can be done; who waits for 10 s gives up, as by `pool_timeout`."""

    name = "held"
    size = 4
    peer = "orders-db"
    users = 0
    slo_s = 1.5
    gives_up_s: ClassVar[float] = 10.0

    def set_up(self) -> None:
        self.arrive(14.0)

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, own, call = next(ids), next(ids), next(ids)
        got = yield Slot(self.pool, self.gives_up_s)
        if got:
            yield log_normal(rng, 0.18)
            began = self.engine.now
            yield log_normal(rng, 0.04)
            self.queried(trace, own, "SELECT orders", began, self.engine.now)
            yield log_normal(rng, 0.18)
            self.pool.release()
        now = self.engine.now
        self.span(trace, own, call, "POST /orders", Kind.SERVER, came, now + 1e-3, failed=not got)
        self.called(trace, call, came, failed=not got)
        self.answered(came, failed=not got)
