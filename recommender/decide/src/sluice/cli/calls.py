"""Calls of the recommender's services, with errors as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, TypeVar

import grpc

from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel

TIMEOUT_S = 5.0


def why_not(error: grpc.RpcError, address: str) -> str:
    """The cause of a failed call to the recommender at `address`, and the remedy."""
    code, details = error.code(), error.details() or "no details"
    if code == grpc.StatusCode.UNAVAILABLE:
        return (
            f"cannot reach the recommender at {address}: {details}. Start the stack with `make up`, or set "
            "another address with --address or SLUICE_RECOMMENDER; `./sluice doctor` names the stage that is down."
        )
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return (
            f"the recommender at {address} did not answer within {TIMEOUT_S:g} s; "
            "`./sluice doctor` names the stage at fault."
        )
    return f"the recommender at {address} answered {code.name}: {details}"


def pages(method: Callable[..., Any], request: Any, field: str, timeout_s: float = TIMEOUT_S) -> Iterator[Any]:
    """The entries of `field` in all pages of a list. Raises grpc.RpcError."""
    while True:
        page = method(request, timeout=timeout_s)
        yield from getattr(page, field)
        request.page_token = page.next_page_token
        if not page.next_page_token:
            return


class Client:
    """The calls of one service. Every failure is a CliError with a remedy."""

    stub: ClassVar[Any]
    timeout_s: ClassVar[float] = TIMEOUT_S

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub = type(self).stub(channel)
        self._address = address

    def refusal(self, _error: grpc.RpcError) -> Sequence[str]:
        """The problems of the request itself; none where another attempt may succeed."""
        return []

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        with self._sentences():
            return method(request, timeout=self.timeout_s)

    def _pages(self, method: Callable[..., Any], request: Any, field: str) -> Iterator[Any]:
        with self._sentences():
            yield from pages(method, request, field, self.timeout_s)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except grpc.RpcError as error:
            raise CliError(*(self.refusal(error) or [why_not(error, self._address)])) from None


C = TypeVar("C", bound=Client)


def connecting(client: type[C]) -> Callable[[str], AbstractContextManager[C]]:
    """The function that opens a client at an address."""

    @contextmanager
    def connect(address: str) -> Iterator[C]:
        with open_channel(address) as channel:
            yield client(channel, address)

    return connect
