"""Asks the recommender, and turns its errors into sentences."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from sluice.cli.output import CliError
from sluice.cli.pools.selector import Selector, pool_name
from sluice.v1 import pool_size_service_pb2 as api
from sluice.v1.pool_size_pb2 import Explanation, Pool, PoolSize
from sluice.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

_TIMEOUT_S = 5.0


class PoolsClient:
    """The three questions of the CLI; every failure is a CliError that says what to do."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub = PoolSizeServiceStub(channel)
        self._address = address

    def list(self, service: str = "") -> list[PoolSize]:
        answer = self._call(self._stub.ListPoolSizes, api.ListPoolSizesRequest(service=service))
        return [*answer.pool_sizes]

    def get(self, selector: Selector) -> PoolSize:
        pool = self._resolve(selector)
        answer: api.GetPoolSizeResponse = self._call(self._stub.GetPoolSize, api.GetPoolSizeRequest(pool=pool))
        return answer.pool_size

    def explain(self, selector: Selector) -> Explanation:
        pool = self._resolve(selector)
        answer: api.ExplainPoolSizeResponse = self._call(
            self._stub.ExplainPoolSize, api.ExplainPoolSizeRequest(pool=pool)
        )
        return answer.explanation

    def _resolve(self, selector: Selector) -> Pool:
        """Without a side: the server pool of the service, else its only pool."""
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

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            raise CliError(self._explain_error(error)) from None

    def _explain_error(self, error: grpc.RpcError) -> str:
        code, details = error.code(), error.details() or "no details"
        if code == grpc.StatusCode.UNAVAILABLE:
            return (
                f"cannot reach the recommender at {self._address}: {details}. Start the stack with `make up`, or name "
                "another address with --address or SLUICE_RECOMMENDER; `./sluice doctor` says which stage is down."
            )
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return (
                f"the recommender at {self._address} did not answer within {_TIMEOUT_S:g} s; "
                "`./sluice doctor` says which stage is in trouble."
            )
        if code == grpc.StatusCode.NOT_FOUND:
            return f"no such pool: {details}. {self._existing()}"
        return f"the recommender at {self._address} answered {code.name}: {details}"

    def _existing(self) -> str:
        try:
            answer = self._stub.ListPoolSizes(api.ListPoolSizesRequest(), timeout=_TIMEOUT_S)
        except grpc.RpcError:
            return "Which pools exist could not be read."
        names = ", ".join(pool_name(size.pool) for size in answer.pool_sizes)
        return f"Pools that exist: {names}." if names else "The recommender's configuration has no pool."


@contextmanager
def connect(address: str) -> Iterator[PoolsClient]:
    with grpc.insecure_channel(address) as channel:
        yield PoolsClient(channel, address)
