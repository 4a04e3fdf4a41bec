"""The life of one request, from its caller's wait for a connection to the response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .distributions import Sampler
from .pool import Pool
from .spans import Span, SpanSite

if TYPE_CHECKING:
    from .service import Instance

NS = 1e9


class Step(Protocol):
    """One step of an operation: starts something, after which ``request.proceed()`` is called once."""

    def start(self, request: Request) -> None: ...


@dataclass(slots=True)
class Operation:
    """An operation as it runs."""

    server_site: SpanSite | None
    """None: the service is not traced."""
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Target:
    """Where a call goes, as seen from the caller."""

    pick: Callable[[Instance | None], Instance]
    operation: Operation
    network: Sampler
    client_site: SpanSite | None
    """None: the caller is a user, who makes no spans."""


class Request:
    """submit -> [connection] -> send -> arrive -> [thread] -> begin -> steps -> respond -> receive.

    In brackets: the two places where it may queue, or be turned away. Every method up to ``receive`` is an action
    of the engine or of a pool, called as ``Request.send(request)``.
    """

    __slots__ = (
        "_begun",
        "_client_span",
        "_connections",
        "_done",
        "_holds_thread",
        "_instance",
        "_sent",
        "_server_span",
        "_step",
        "_target",
        "caller",
        "failed",
        "outstanding",
        "submitted",
        "trace_id",
    )

    def __init__(self, target: Target, caller: Request | None, trace_id: int, done: Callable[[Any], None]) -> None:
        self._target = target
        self._done = done
        self._step = 0
        self._client_span = 0
        self._server_span = 0
        self._connections: Pool | None = None
        self._holds_thread = False
        self.caller = caller
        self.trace_id = trace_id
        self.failed = False
        self.outstanding = 0
        """Calls of the current step that have not returned."""

    @property
    def instance(self) -> Instance:
        return self._instance

    def submit(self, connections: Pool | None, now: float) -> None:
        """Starts the request: waits for one of the caller's connections where they are bounded."""
        self.submitted = now
        self._instance = self._target.pick(None if self.caller is None else self.caller.instance)
        if connections is None:
            self.send()
            return
        self._connections = connections
        if not connections.acquire(Request.send, self):
            self._connections = None
            self.failed = True
            # Through the engine: a whole queue that fails at once must not become one deep recursion.
            self._instance.engine.after(0.0, self._done, self)

    def send(self) -> None:
        engine = self._instance.engine
        self._sent = engine.now
        engine.after(self._target.network(), Request.arrive, self)

    def arrive(self) -> None:
        instance = self._instance
        if instance.threads is None:
            self.begin()
            return
        self._holds_thread = True
        if not instance.threads.acquire(Request.begin, self):
            self._holds_thread = False
            self.failed = True
            instance.engine.after(self._target.network(), Request.receive, self)

    def begin(self) -> None:
        instance = self._instance
        self._begun = instance.engine.now
        new_id = instance.new_id
        if self._target.client_site is not None:
            self._client_span = new_id(64)
        self._server_span = new_id(64)
        self.proceed()

    def proceed(self) -> None:
        """Starts the next step, or responds after the last one, or at once when a step has failed."""
        steps = self._target.operation.steps
        step = self._step
        if step < len(steps) and not self.failed:
            self._step = step + 1
            steps[step].start(self)
        else:
            self.respond()

    def respond(self) -> None:
        instance, target = self._instance, self._target
        engine = instance.engine
        site = target.operation.server_site
        if site is not None:
            instance.emit(
                Span(
                    self.trace_id,
                    self._server_span,
                    self._client_span,
                    site,
                    instance.name,
                    round(self._begun * NS),
                    round(engine.now * NS),
                    self.failed,
                )
            )
        engine.after(target.network(), Request.receive, self)
        if self._holds_thread:
            assert instance.threads is not None
            instance.threads.release()

    def receive(self) -> None:
        caller, site = self.caller, self._target.client_site
        if caller is not None and site is not None:
            home = caller._instance
            home.emit(
                Span(
                    self.trace_id,
                    self._client_span or home.new_id(64),
                    caller._server_span,
                    site,
                    home.name,
                    round(self._sent * NS),
                    round(home.engine.now * NS),
                    self.failed,
                )
            )
        if self._connections is not None:
            self._connections.release()
        self._done(self)
