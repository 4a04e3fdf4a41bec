"""Threads of a server."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from .pattern import Pattern, busy_s, log_normal
from .process import Process, Slot, start
from .span import Kind


class Plain(Pattern):
    """The control: a SERVER span a request, 20 ms of CPU on 2 cores beside 80 ms of waiting; 64 are too many."""

    name = "plain"
    size = 64
    nested: ClassVar[bool] = False
    cpu_s: ClassVar[float] = 0.02
    wait_s: ClassVar[float] = 0.08

    def request(self, rng: Random) -> Process:
        came, ids = self.engine.now, self.new_ids()
        trace, call, own = next(ids), next(ids), next(ids)
        yield Slot(self.pool)
        began = self.engine.now
        yield log_normal(rng, busy_s(self.at_work, self.cpu_s, self.wait_s))
        self.pool.release()
        now = self.engine.now
        self.span(trace, own, call, "GET /x", Kind.SERVER, began, now)
        if self.nested:
            self.span(trace, next(ids), own, "request", Kind.SERVER, began + 2e-4, now - 1e-4)
        self.called(trace, call, came)
        self.answered(came)

    @property
    def at_work(self) -> int:
        """Of the threads that are held, those that share the CPU."""
        return self.pool.in_use


class Nested(Plain):
    """The HTTP server's and the web framework's instrumentation make a SERVER span each: fastify/otel #172."""

    name = "nested"
    nested = True


class Light(Plain):
    """5 in flight of 16."""

    name = "light"
    size = 16
    users = 25
    think_s = 0.6
    right: ClassVar[tuple[int, int] | None] = (16, 16)


class Steady(Light):
    """Users come over 20 s: a steady load, and concurrency that jitters."""

    name = "steady"
    ramp_s = 20.0


class Ahead(Steady):
    """The host's clock is 1 s ahead of the reader's: oteps #154."""

    name = "ahead"
    ahead_s = 1.0


class LightSurge(Steady):
    """Three times the users after 120 s: vector #3255."""

    name = "lightsurge"
    right = None
    surges_s: ClassVar[float] = 120.0

    def set_up(self) -> None:
        self.come(50, self.surges_s, 2.0)


class Stream(Plain):
    """24 of 32 threads are held by streams of 10 minutes, whose spans come at their end: semantic-conventions #3703."""

    name = "stream"
    size = 32
    right = 32, 40
    streams: ClassVar[int] = 24
    life_s: ClassVar[float] = 600.0

    def set_up(self) -> None:
        for number in range(self.streams):
            start(self.engine, self._stream(self.life_s * (number + 1) / self.streams))

    @property
    def at_work(self) -> int:
        return max(1, self.pool.in_use - self.streams)

    def _stream(self, first_s: float) -> Process:
        lasts, ids = first_s, self.new_ids()
        while True:
            yield Slot(self.pool)
            began = self.engine.now
            yield lasts
            self.pool.release()
            grpc = (("rpc.system", "grpc"),)
            edges = began, self.engine.now
            self.span(next(ids), next(ids), 0, "Feed/Watch", Kind.SERVER, *edges, failed=True, attributes=grpc)
            lasts = self.life_s


class Mixed(Light):
    """Beside the HTTP threads 14 listeners, always busy with batches of 8 s: java-instrumentation #3529."""

    name = "mixed"
    listeners: ClassVar[int] = 14

    def set_up(self) -> None:
        for number in range(self.listeners):
            rng = self.stream("listener", number)
            start(self.engine, self._listen(rng), rng.random() * 8.0)

    def _listen(self, rng: Random) -> Process:
        ids, kafka = self.new_ids(), (("messaging.system", "kafka"),)
        while True:
            began = self.engine.now
            yield log_normal(rng, 8.0, 0.2)
            edges = began, self.engine.now
            self.span(next(ids), next(ids), 0, "orders process", Kind.CONSUMER, *edges, attributes=kafka)
            yield 0.01


class PetClinic(Plain):
    """200 Tomcat threads for 12 requests/s, 4 in flight; for a minute of each three 28/s more."""

    name = "petclinic"
    size = 200
    users = 0
    cpu_s = 0.015
    wait_s = 0.3
    most = 400
    right = 200, 200

    def set_up(self) -> None:
        self.arrive(12.0)
        for burst in range(120, 3600, 180):
            self.arrive(28.0, float(burst), burst + 60.0)


class Probes(Light):
    """Who watches a quiet service asks it nearly as often as its users: Jolokia's polls and health checks, 5.8/s.

    No user for the minute from 90 s on; then more than twice as many.
    """

    name = "probes"
    users = 0
    size = 20
    right = 20, 20
    probes: ClassVar[tuple[tuple[str, float], ...]] = (("POST /jolokia", 4.8), ("GET /actuator/health", 1.0))

    def set_up(self) -> None:
        self.arrive(8.0, 0.0, 90.0)
        self.arrive(20.0, 150.0)
        for name, per_s in self.probes:
            start(self.engine, self._probe(name, per_s))

    def _probe(self, name: str, per_s: float) -> Process:
        rng, ids = self.stream(name), self.new_ids()
        while True:
            yield rng.expovariate(per_s)
            yield Slot(self.pool)
            began = self.engine.now
            yield log_normal(rng, 0.003)
            self.pool.release()
            self.span(next(ids), next(ids), 0, name, Kind.SERVER, began, self.engine.now)
