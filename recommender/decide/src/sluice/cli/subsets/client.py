"""Calls the recommender for subsets, and turns its errors into sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import grpc

from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel
from sluice.cli.pools.client import TIMEOUT_S, why_not
from sluice.cli.pools.watching import follow
from sluice.subsets.v1 import subset_service_pb2 as api
from sluice.subsets.v1.explanation_pb2 import Pair
from sluice.subsets.v1.subset_pb2 import Subset, SubsetKey
from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub


class Filter(NamedTuple):
    """Selects subsets of an upstream service, a container of it, and a downstream service; empty: any."""

    upstream: str
    instance: str
    downstream: str


class SubsetsClient:
    """The CLI's calls. Every failure is a CliError with a remedy."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub = SubsetServiceStub(channel)
        self._address = address

    def list(self, of: Filter) -> Iterator[Subset]:
        """The subsets of all pages."""
        request = api.ListSubsetsRequest(**of._asdict())
        while True:
            page: api.ListSubsetsResponse = self._call(self._stub.ListSubsets, request)
            yield from page.subsets
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def get(self, key: SubsetKey) -> Subset:
        answer: api.GetSubsetResponse = self._call(self._stub.GetSubset, api.GetSubsetRequest(key=key))
        return answer.subset

    def explain(self, pair: Pair) -> api.ExplainPairResponse:
        answer: api.ExplainPairResponse = self._call(self._stub.ExplainPair, api.ExplainPairRequest(pair=pair))
        return answer

    def watch(self, of: Filter, say: Callable[[str], None]) -> Iterator[api.WatchSubsetsResponse]:
        """Every event, for ever; reports breaks to `say`. Raises on the first failure, so that a typo ends."""
        self._call(self._stub.ListSubsets, api.ListSubsetsRequest(**of._asdict(), page_size=1))
        return follow(
            lambda token: self._stub.WatchSubsets(api.WatchSubsetsRequest(**of._asdict(), resume_token=token)), say
        )

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                raise CliError(f"{error.details()}. {self._existing()}") from None
            raise CliError(why_not(error, self._address)) from None

    def _existing(self) -> str:
        try:
            pairs = {
                f"{subset.key.upstream} -> {subset.key.downstream}": None for subset in self.list(Filter("", "", ""))
            }
        except CliError:
            return "The list of pairs with subsets could not be read."
        return f"Pairs that have subsets: {', '.join(pairs)}." if pairs else "No pair has subsets."


@contextmanager
def connect(address: str) -> Iterator[SubsetsClient]:
    with open_channel(address) as channel:
        yield SubsetsClient(channel, address)
