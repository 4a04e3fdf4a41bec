"""Calls the recommender for subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import grpc

from sluice.cli.calls import Client, connecting
from sluice.cli.output import CliError
from sluice.cli.pools.watching import follow
from sluice.cli.subsets.options import Filter
from sluice.subsets.v1 import subset_service_pb2 as api
from sluice.subsets.v1.explanation_pb2 import Pair
from sluice.subsets.v1.subset_pb2 import Subset, SubsetKey
from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub


class SubsetsClient(Client):
    """Calls of SubsetService."""

    stub = SubsetServiceStub

    def list(self, filters: Filter) -> Iterator[Subset]:
        """The subsets of all pages."""
        return self._pages(self._stub.ListSubsets, api.ListSubsetsRequest(**filters._asdict()), "subsets")

    def get(self, key: SubsetKey) -> Subset:
        answer: api.GetSubsetResponse = self._call(self._stub.GetSubset, api.GetSubsetRequest(key=key))
        return answer.subset

    def explain(self, pair: Pair) -> api.ExplainPairResponse:
        answer: api.ExplainPairResponse = self._call(self._stub.ExplainPair, api.ExplainPairRequest(pair=pair))
        return answer

    def watch(self, filters: Filter, say: Callable[[str], None]) -> Iterator[api.WatchSubsetsResponse]:
        """Every event, for ever; reports breaks to `say`. Raises on the first failure, so that a typo ends."""
        self._call(self._stub.ListSubsets, api.ListSubsetsRequest(**filters._asdict(), page_size=1))
        return follow(
            lambda token: self._stub.WatchSubsets(api.WatchSubsetsRequest(**filters._asdict(), resume_token=token)), say
        )

    def refusal(self, error: grpc.RpcError) -> Sequence[str]:
        return [f"{error.details()}. {self._existing()}"] if error.code() == grpc.StatusCode.NOT_FOUND else []

    def _existing(self) -> str:
        try:
            pairs = {f"{subset.key.upstream} -> {subset.key.downstream}": None for subset in self.list(Filter())}
        except CliError:
            return "The list of pairs with subsets could not be read."
        return f"Pairs that have subsets: {', '.join(pairs)}." if pairs else "No pair has subsets."


connect = connecting(SubsetsClient)
