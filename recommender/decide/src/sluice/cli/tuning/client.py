"""Calls the recommender for tuning sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import grpc

from sluice.cli.calls import Client, connecting
from sluice.cli.pools.watching import follow
from sluice.tuning.v1 import session_pb2
from sluice.tuning.v1 import tuning_service_pb2 as api
from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub

# The request is wrong; a second one would fail too.
REFUSED = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


class TuningClient(Client):
    """Calls of TuningService."""

    stub = TuningServiceStub
    # A decider answers calls that change a session, in its next period.
    timeout_s = 25.0

    def create(self, plan: session_pb2.Plan, warm_start: str) -> session_pb2.TuningSession:
        request = api.CreateSessionRequest(plan=plan, warm_start=warm_start)
        answer: api.CreateSessionResponse = self._call(self._stub.CreateSession, request)
        return answer.session

    def get(self, session: str) -> session_pb2.TuningSession:
        answer: api.GetSessionResponse = self._call(self._stub.GetSession, api.GetSessionRequest(session=session))
        return answer.session

    def explain(self, session: str) -> api.ExplainSessionResponse:
        """The explanation of a session, with all its trials."""
        request = api.ExplainSessionRequest(session=session)
        answer: api.ExplainSessionResponse = self._call(self._stub.ExplainSession, request)
        answer.session.CopyFrom(self.get(session))
        return answer

    def stop(self, session: str, why: str) -> session_pb2.TuningSession:
        request = api.StopSessionRequest(session=session, why=why)
        answer: api.StopSessionResponse = self._call(self._stub.StopSession, request)
        return answer.session

    def list(self, target: str) -> Iterator[session_pb2.TuningSession]:
        """The sessions of all pages, without trials."""
        return self._pages(self._stub.ListSessions, api.ListSessionsRequest(target=target), "sessions")

    def watch(
        self, session: str, say: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
    ) -> Iterator[api.WatchSessionResponse]:
        """Every event, for ever; reports breaks to `say`."""
        self.get(session)
        return follow(
            lambda token: self._stub.WatchSession(api.WatchSessionRequest(session=session, resume_token=token)),
            say,
            sleep,
        )

    def refusal(self, error: grpc.RpcError) -> Sequence[str]:
        if error.code() == grpc.StatusCode.NOT_FOUND:
            return [f"{error.details()}; ./sluice tuning list has those that exist"]
        return (error.details() or error.code().name).split("\n") if error.code() in REFUSED else []


connect = connecting(TuningClient)
