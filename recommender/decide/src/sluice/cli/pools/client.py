"""Calls the recommender for pools."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from sluice.cli.calls import Client, connecting, why_not
from sluice.cli.output import CliError
from sluice.cli.pools.missing import why_no_pool
from sluice.cli.pools.selector import Selector, pool_name
from sluice.cli.pools.watching import follow
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.candidate_pb2 import Candidate
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub


class PoolsClient(Client):
    """Calls of PoolSizeService."""

    stub = PoolSizeServiceStub

    def list(self, service: str = "") -> builtins.list[PoolSize]:
        """The pool sizes of all pages."""
        return [*self._pages(self._stub.ListPoolSizes, api.ListPoolSizesRequest(service=service), "pool_sizes")]

    def candidates(self, service: str = "") -> builtins.list[Candidate]:
        """The candidates of all pages."""
        return [*self._pages(self._stub.ListCandidates, api.ListCandidatesRequest(service=service), "candidates")]

    def get(self, selector: Selector) -> PoolSize:
        pool = self.resolve(selector)
        answer: api.GetPoolSizeResponse = self._of(self._stub.GetPoolSize, api.GetPoolSizeRequest(pool=pool))
        return answer.pool_size

    def explain(self, selector: Selector) -> Explanation:
        pool = self.resolve(selector)
        answer: api.ExplainPoolSizeResponse = self._of(
            self._stub.ExplainPoolSize, api.ExplainPoolSizeRequest(pool=pool)
        )
        return answer.explanation

    def watch(self, service: str, say: Callable[[str], None]) -> Iterator[api.WatchPoolSizesResponse]:
        """Every event, for ever; reports breaks to `say`. Raises on the first failure, so that a typo ends."""
        self.list(service)
        return follow(
            lambda token: self._stub.WatchPoolSizes(api.WatchPoolSizesRequest(service=service, resume_token=token)), say
        )

    def pause(self, selector: Selector, by: str, why: str, size: int | None = None) -> Pool:
        pool = self.resolve(selector)
        self._of(self._stub.PausePool, api.PausePoolRequest(pool=pool, by=by, why=why, size=size))
        return pool

    def resume(self, selector: Selector, by: str) -> tuple[Pool, bool]:
        """The pool, and whether it was paused."""
        pool = self.resolve(selector)
        answer: api.ResumePoolResponse = self._of(self._stub.ResumePool, api.ResumePoolRequest(pool=pool, by=by))
        return pool, answer.was_paused

    def resolve(self, selector: Selector) -> Pool:
        """The pool of a selector. Without a side: the server pool of the service, else its only pool."""
        if selector.side is not None:
            return selector.pool()
        pools = [size.pool for size in self.list(selector.service)]
        server = selector.pool()
        if server in pools or not pools:
            return server
        if len(pools) == 1:
            return pools[0]
        names = ", ".join(pool_name(pool) for pool in pools)
        raise CliError(f"{selector.service} has no server pool and several client pools; name one of: {names}")

    def _of(self, method: Callable[..., Any], request: Any) -> Any:
        """A call on the pool of `request`. Where the recommender does not have it, the error tells why."""
        try:
            return method(request, timeout=self.timeout_s)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.NOT_FOUND:
                raise CliError(why_not(error, self._address)) from None
        raise CliError(why_no_pool(request.pool, self.candidates(request.pool.service), self.list()))


connect = connecting(PoolsClient)
