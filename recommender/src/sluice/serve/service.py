"""PoolSizeService: hands out the store's answers, and takes actuators' reports."""

from __future__ import annotations

from typing import NoReturn, Protocol

import grpc

from sluice.config import PoolKey
from sluice.serve.answer import Answer
from sluice.serve.loop import Clock
from sluice.serve.messages import InvalidFieldError, explanation, pool_key, pool_size
from sluice.serve.sizes import Sizes
from sluice.serve.store import NotReadyError, Store
from sluice.v1 import pool_size_pb2 as pb
from sluice.v1 import pool_size_service_pb2 as api
from sluice.v1 import pool_size_service_pb2_grpc as rpc

# Unix seconds that a DateTime64(3) of the audit table and Python's datetime both hold.
FIRST_S, END_S = 0, 9_214_646_400


class Audit(Protocol):
    def report(self, key: PoolKey, actuation: pb.Actuation, received_ms: int) -> None: ...


class PoolSizeService(rpc.PoolSizeServiceServicer):
    def __init__(self, store: Store, sizes: Sizes, audit: Audit, clock: Clock) -> None:
        self._store, self._sizes, self._audit, self._clock = store, sizes, audit, clock

    def GetPoolSize(  # noqa: N802
        self, request: api.GetPoolSizeRequest, context: grpc.ServicerContext
    ) -> api.GetPoolSizeResponse:
        return api.GetPoolSizeResponse(pool_size=pool_size(self._answer(request.pool, "pool", context)))

    def ListPoolSizes(  # noqa: N802
        self, request: api.ListPoolSizesRequest, context: grpc.ServicerContext
    ) -> api.ListPoolSizesResponse:
        try:
            answers = self._store.newest()
        except NotReadyError as cause:
            _abort(context, grpc.StatusCode.UNAVAILABLE, str(cause))
        wanted = [answer for answer in answers if request.service in ("", answer.key.service)]
        return api.ListPoolSizesResponse(pool_sizes=[pool_size(answer) for answer in wanted])

    def ExplainPoolSize(  # noqa: N802
        self, request: api.ExplainPoolSizeRequest, context: grpc.ServicerContext
    ) -> api.ExplainPoolSizeResponse:
        return api.ExplainPoolSizeResponse(explanation=explanation(self._answer(request.pool, "pool", context)))

    def ReportActuation(  # noqa: N802
        self, request: api.ReportActuationRequest, context: grpc.ServicerContext
    ) -> api.ReportActuationResponse:
        actuation = request.actuation
        answer = self._answer(actuation.pool, "actuation.pool", context)
        problem = _problem(actuation)
        if problem is not None:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, problem)
        received_ms = self._clock()
        size = _size_now(actuation)
        changed = size is None or self._sizes.report(answer.key, size, received_ms)
        # A target is observed every few seconds: 43,000 equal rows a day at 2 s would bury what was done.
        if changed or actuation.outcome != pb.ACTUATION_OUTCOME_OBSERVED:
            self._audit.report(answer.key, actuation, received_ms)
        return api.ReportActuationResponse()

    def _answer(self, pool: pb.Pool, field: str, context: grpc.ServicerContext) -> Answer:
        try:
            key = pool_key(pool, field)
            answer = self._store.get(key)
        except InvalidFieldError as cause:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(cause))
        except NotReadyError as cause:
            _abort(context, grpc.StatusCode.UNAVAILABLE, str(cause))
        if answer is None:
            _abort(context, grpc.StatusCode.NOT_FOUND, f"pool {key} is not in the configuration")
        return answer


def _problem(actuation: pb.Actuation) -> str | None:
    """What is not legal in a report; None when all is."""
    if not actuation.target_name:
        return "actuation.target_name is empty; legal: the target's name in the actuator's configuration"
    if not actuation.actuator:
        return "actuation.actuator is empty; legal: the name of the actuator"
    if actuation.outcome not in pb.ActuationOutcome.values() or not actuation.outcome:
        legal = ", ".join(pb.ActuationOutcome.keys()[1:])
        return f"actuation.outcome {actuation.outcome} is not legal; legal: {legal}"
    if actuation.outcome == pb.ACTUATION_OUTCOME_APPLIED and not actuation.HasField("read_back"):
        return "actuation.read_back is missing for ACTUATION_OUTCOME_APPLIED; legal: the size read from the target"
    if actuation.HasField("read_back") and actuation.read_back < 1:
        return "actuation.read_back 0 is not legal; legal: >= 1, or absent when it could not be read"
    if actuation.HasField("previous") and actuation.previous < 1:
        return "actuation.previous 0 is not legal; legal: >= 1, or absent when it could not be read"
    if actuation.HasField("at") and not FIRST_S <= actuation.at.seconds < END_S:
        return f"actuation.at {actuation.at.seconds} s is not legal; legal: 1970-01-01 to 2261-12-31, or absent"
    return None


def _size_now(actuation: pb.Actuation) -> int | None:
    """The size after the report: what was read back; without that, the size before if nothing was written."""
    if actuation.HasField("read_back"):
        return actuation.read_back
    untouched = (pb.ACTUATION_OUTCOME_OBSERVED, pb.ACTUATION_OUTCOME_REFUSED)
    if actuation.outcome in untouched and actuation.HasField("previous"):
        return actuation.previous
    return None


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, text: str) -> NoReturn:
    context.abort(code, text)
    raise AssertionError("abort raises")
