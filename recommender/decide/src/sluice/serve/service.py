"""PoolSizeService: hands out the store's answers, and takes actuators' reports. Runs on the server's event loop."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import grpc

from sluice.control.answer import Answer
from sluice.control.loop import Clock
from sluice.control.pauses import Pause, Pauses
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import NotReadyError, Published, Store
from sluice.core.keys import PoolKey
from sluice.pools.v1 import actuation_pb2, pool_pb2
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.serve.feed import Batches, Cursor, parse_cursor
from sluice.serve.messages import END_S, FIRST_S, InvalidFieldError, explanation, pool_key, pool_size, scaling_of

NOT_STORED = "the database does not take it now: it may still be stored; try again"
# A watcher hears something this often, whatever the control loop does.
HEARTBEAT_S = 10.0

if TYPE_CHECKING:
    Context = grpc.aio.ServicerContext[Any, Any]


class Audit(Protocol):
    def report(self, key: PoolKey, actuation: actuation_pb2.Actuation, received_ms: int) -> None: ...

    def paused(self, key: PoolKey, pause: Pause, *, paused: bool) -> bool: ...

    def scaled(self, scaling: Scaling) -> bool: ...


class PoolSizeService(rpc.PoolSizeServiceServicer):
    def __init__(
        self,
        store: Store,
        sizes: Sizes,
        audit: Audit,
        clock: Clock,
        heartbeat_s: float = HEARTBEAT_S,
        pauses: Pauses | None = None,
        wake: Callable[[], None] = lambda: None,
        scalings: Scalings | None = None,
    ) -> None:
        self._store, self._sizes, self._audit, self._clock = store, sizes, audit, clock
        self._pauses, self._wake_loop = pauses or Pauses(), wake
        self._scalings = scalings or Scalings()
        self._heartbeat_s = heartbeat_s
        self._run = uuid.uuid4().hex[:12]
        self._news = asyncio.Event()
        self._beat: asyncio.TimerHandle | None = None
        self._batches = Batches(self._run)
        self._closing = False
        self.watchers = 0

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets watchers on `loop` hear of what the control loop's thread publishes."""

        def wake(_: Published) -> None:
            loop.call_soon_threadsafe(self._wake)

        self._store.listen(wake)
        loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """Ends every watch, so that the server need not wait for them. On the server's loop."""
        self._closing = True
        self._wake()

    async def GetPoolSize(self, request: api.GetPoolSizeRequest, context: Context) -> api.GetPoolSizeResponse:  # noqa: N802
        return api.GetPoolSizeResponse(pool_size=pool_size(await self._answer(request.pool, "pool", context)))

    async def ListPoolSizes(self, request: api.ListPoolSizesRequest, context: Context) -> api.ListPoolSizesResponse:  # noqa: N802
        answers = (await self._published(context)).answers.values()
        wanted = [answer for answer in answers if request.service in ("", answer.key.service)]
        return api.ListPoolSizesResponse(pool_sizes=[pool_size(answer) for answer in wanted])

    async def WatchPoolSizes(  # noqa: N802
        self, request: api.WatchPoolSizesRequest, context: Context
    ) -> AsyncIterator[api.WatchPoolSizesResponse]:
        try:
            cursor = parse_cursor(request.resume_token)
        except InvalidFieldError as cause:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(cause))
        self.watchers += 1
        try:
            while not self._closing:
                news = self._news
                published = await self._published(context)
                for event in self._batches.of(published, cursor, request.service):
                    yield event
                cursor = Cursor(self._run, published.number)
                # What was published while we wrote is there already: a slow watcher skips to the newest set.
                if self._store.published() is published:
                    await news.wait()
        finally:
            self.watchers -= 1
        await _abort(context, grpc.StatusCode.UNAVAILABLE, "the recommender stops: watch again with the resume token")

    async def ExplainPoolSize(  # noqa: N802
        self, request: api.ExplainPoolSizeRequest, context: Context
    ) -> api.ExplainPoolSizeResponse:
        return api.ExplainPoolSizeResponse(explanation=explanation(await self._answer(request.pool, "pool", context)))

    async def ReportActuation(  # noqa: N802
        self, request: api.ReportActuationRequest, context: Context
    ) -> api.ReportActuationResponse:
        actuation = request.actuation
        answer = await self._answer(actuation.pool, "actuation.pool", context)
        problem = _problem(actuation)
        if problem is not None:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, problem)
        received_ms = self._clock()
        size = _size_now(actuation)
        instance = actuation.instance or actuation.target_name
        known = actuation.unbounded or size is not None
        written = actuation.outcome == actuation_pb2.ACTUATION_OUTCOME_APPLIED
        changed = not known or self._sizes.report(answer.key, size, received_ms, instance, written)
        # A target is observed every few seconds: 43,000 equal rows a day at 2 s would bury what was done.
        if changed or actuation.outcome != actuation_pb2.ACTUATION_OUTCOME_OBSERVED:
            self._audit.report(answer.key, actuation, received_ms)
        return api.ReportActuationResponse()

    async def PausePool(self, request: api.PausePoolRequest, context: Context) -> api.PausePoolResponse:  # noqa: N802
        answer = await self._answer(request.pool, "pool", context)
        pause = await self._pause(request, context)
        await self._keep(answer.key, pause, context, paused=True)
        self._pauses.pause(answer.key, pause)
        self._wake_loop()
        return api.PausePoolResponse()

    async def ResumePool(self, request: api.ResumePoolRequest, context: Context) -> api.ResumePoolResponse:  # noqa: N802
        answer = await self._answer(request.pool, "pool", context)
        pause = await self._pause(request, context)
        if self._pauses.of(answer.key) is None:
            return api.ResumePoolResponse(was_paused=False)
        await self._keep(answer.key, pause, context, paused=False)
        self._pauses.resume(answer.key)
        self._wake_loop()
        return api.ResumePoolResponse(was_paused=True)

    async def NotifyScaling(self, request: api.NotifyScalingRequest, context: Context) -> api.NotifyScalingResponse:  # noqa: N802
        published = await self._published(context)
        try:
            scaling = scaling_of(request.scaling_event, self._clock())
        except InvalidFieldError as cause:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(cause))
        if not await asyncio.to_thread(self._audit.scaled, scaling):
            await _abort(context, grpc.StatusCode.UNAVAILABLE, NOT_STORED)
        self._scalings.notify(scaling)
        self._wake_loop()
        return api.NotifyScalingResponse(
            pools=sum(scaling.service in (key.service, key.peer) for key in published.answers)
        )

    async def ListPoolSizeHistory(  # noqa: N802
        self, request: api.ListPoolSizeHistoryRequest, context: Context
    ) -> api.ListPoolSizeHistoryResponse:
        await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "sluice-server has it")

    async def DiffPoolSizes(self, request: api.DiffPoolSizesRequest, context: Context) -> api.DiffPoolSizesResponse:  # noqa: N802
        await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "sluice-server has it")

    async def _pause(self, request: api.PausePoolRequest | api.ResumePoolRequest, context: Context) -> Pause:
        if not request.by:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "by is empty; legal: who asks for it")
        return Pause(self._clock(), request.by, request.why)

    async def _keep(self, key: PoolKey, pause: Pause, context: Context, *, paused: bool) -> None:
        """Stored first: a pause that a restart forgets would be worse than none."""
        stored = await asyncio.to_thread(self._audit.paused, key, pause, paused=paused)
        if not stored:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, NOT_STORED)

    def _wake(self) -> None:
        """Lets every watcher go on, and those that wait later wait for the next set, or for the next heartbeat.

        One timer for all of them: a timeout of its own would cost each watcher a task for every wait.
        """
        news, self._news = self._news, asyncio.Event()
        news.set()
        if self._beat is not None:
            self._beat.cancel()
        self._beat = None
        if not self._closing:
            self._beat = asyncio.get_running_loop().call_later(self._heartbeat_s, self._wake)

    async def _published(self, context: Context) -> Published:
        try:
            return self._store.published()
        except NotReadyError as cause:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, str(cause))

    async def _answer(self, pool: pool_pb2.Pool, field: str, context: Context) -> Answer:
        try:
            key = pool_key(pool, field)
        except InvalidFieldError as cause:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(cause))
        answer = (await self._published(context)).answers.get(key)
        if answer is None:
            await _abort(context, grpc.StatusCode.NOT_FOUND, f"pool {key} is not in the configuration")
        return answer


def _problem(actuation: actuation_pb2.Actuation) -> str | None:
    """What is not legal in a report; None when all is."""
    if not actuation.target_name:
        return "actuation.target_name is empty; legal: the target's name in the actuator's configuration"
    if not actuation.actuator:
        return "actuation.actuator is empty; legal: the name of the actuator"
    if actuation.outcome not in actuation_pb2.ActuationOutcome.values() or not actuation.outcome:
        legal = ", ".join(actuation_pb2.ActuationOutcome.keys()[1:])
        return f"actuation.outcome {actuation.outcome} is not legal; legal: {legal}"
    if actuation.outcome == actuation_pb2.ACTUATION_OUTCOME_APPLIED and not actuation.HasField("read_back"):
        return "actuation.read_back is missing for ACTUATION_OUTCOME_APPLIED; legal: the size read from the target"
    if actuation.HasField("read_back") and actuation.unbounded:
        return "actuation.read_back is set, and unbounded too; legal: one of them"
    if actuation.HasField("read_back") and actuation.read_back < 1:
        return "actuation.read_back 0 is not legal; legal: >= 1, or absent when it could not be read"
    if actuation.HasField("previous") and actuation.previous < 1:
        return "actuation.previous 0 is not legal; legal: >= 1, or absent when it could not be read"
    if actuation.HasField("at") and not FIRST_S <= actuation.at.seconds < END_S:
        return f"actuation.at {actuation.at.seconds} s is not legal; legal: 1970-01-01 to 2261-12-31, or absent"
    return None


def _size_now(actuation: actuation_pb2.Actuation) -> int | None:
    """The size after the report: what was read back; without that, the size before if nothing was written.

    None where it is not known, and where there is no limit.
    """
    if actuation.HasField("read_back"):
        return actuation.read_back
    if actuation.unbounded:
        return None
    untouched = (actuation_pb2.ACTUATION_OUTCOME_OBSERVED, actuation_pb2.ACTUATION_OUTCOME_REFUSED)
    if actuation.outcome in untouched and actuation.HasField("previous"):
        return actuation.previous
    return None


async def _abort(context: Context, code: grpc.StatusCode, text: str) -> NoReturn:
    await context.abort(code, text)
    raise AssertionError("abort raises")
