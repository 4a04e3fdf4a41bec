"""Calls the recommender for tuning sessions, and turns its errors into sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel
from sluice.cli.pools.client import why_not
from sluice.cli.pools.watching import follow
from sluice.tuning.v1 import session_pb2
from sluice.tuning.v1 import tuning_service_pb2 as api
from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub

# A decider answers calls that change a session, in its next period.
TIMEOUT_S = 25.0
# The request is wrong; a second one would fail too.
REFUSED = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


class TuningClient:
    """The CLI's calls. Every failure is a CliError with a remedy."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub = TuningServiceStub(channel)
        self._address = address

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
        request = api.ListSessionsRequest(target=target)
        while True:
            page: api.ListSessionsResponse = self._call(self._stub.ListSessions, request)
            yield from page.sessions
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

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

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            if error.code() in REFUSED:
                raise CliError(*(error.details() or error.code().name).split("\n")) from None
            raise CliError(why_not(error, self._address)) from None


@contextmanager
def connect(address: str) -> Iterator[TuningClient]:
    with open_channel(address) as channel:
        yield TuningClient(channel, address)
