"""Who may reach the server: TLS, and tokens that callers send as `authorization: Bearer TOKEN`."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

# Probes of an orchestrator carry no token, and learn nothing but whether we serve.
OPEN = "/grpc.health.v1.Health/"
MIN_TOKEN = 16


class AccessError(Exception):
    """A certificate, key or token file cannot be used; the message names the variable."""


@dataclass(frozen=True)
class Access:
    """tokens: any of them opens the door; none means that no token is asked for."""

    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    tokens: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Access:
        """SLUICE_TLS_CERT and SLUICE_TLS_KEY: PEM files. SLUICE_TOKENS: a file, one token a line.

        Raises:
            AccessError: a file cannot be read, only one of the TLS files is named, or a token is too short.
        """
        certificate, key = (_read(environment, name) for name in ("SLUICE_TLS_CERT", "SLUICE_TLS_KEY"))
        if (certificate is None) != (key is None):
            raise AccessError("SLUICE_TLS_CERT and SLUICE_TLS_KEY are legal together only")
        tokens = _read(environment, "SLUICE_TOKENS")
        return cls(certificate, key, _tokens(tokens) if tokens is not None else ())

    def __str__(self) -> str:
        tls = "with TLS" if self.certificate else "without TLS"
        return f"{tls}, {f'{len(self.tokens)} tokens' if self.tokens else 'no token asked for'}"

    @property
    def lacking(self) -> tuple[str, ...]:
        """What must be set before others than this machine are let in: tokens alone would travel in the clear."""
        tls = () if self.certificate else ("SLUICE_TLS_CERT", "SLUICE_TLS_KEY")
        return tls if self.tokens else (*tls, "SLUICE_TOKENS")

    def credentials(self) -> grpc.ServerCredentials | None:
        if self.certificate is None or self.key is None:
            return None
        return grpc.ssl_server_credentials([(self.key, self.certificate)])

    def interceptors(self) -> Sequence[grpc.aio.ServerInterceptor[Any, Any]]:
        return (_TokenCheck(self.tokens),) if self.tokens else ()


class _TokenCheck(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]
    def __init__(self, tokens: Sequence[str]) -> None:
        self._legal = [f"Bearer {token}".encode() for token in tokens]

    async def intercept_service(
        self, go_on: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await go_on(details)
        if handler is None or details.method.startswith(OPEN) or self._knows(details):
            return handler
        return _refusal(handler)

    def _knows(self, details: grpc.HandlerCallDetails) -> bool:
        given = next((value for name, value in details.invocation_metadata if name == "authorization"), "")
        sent = given.encode() if isinstance(given, str) else given
        # Every token is compared, and each in constant time: neither which nor how much of it was right shows.
        return sum(hmac.compare_digest(sent, legal) for legal in self._legal) > 0


def _refusal(handler: Any) -> Any:
    """A handler of the same kind that answers UNAUTHENTICATED."""
    text = "send the metadata `authorization: Bearer TOKEN` with a token of the recommender's SLUICE_TOKENS"

    async def refuse(request: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, text)

    async def refuse_stream(request: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, text)
        yield

    kinds = {
        (False, False): lambda: grpc.unary_unary_rpc_method_handler(refuse),
        (False, True): lambda: grpc.unary_stream_rpc_method_handler(refuse_stream),
        (True, False): lambda: grpc.stream_unary_rpc_method_handler(refuse),
        (True, True): lambda: grpc.stream_stream_rpc_method_handler(refuse_stream),
    }
    return kinds[handler.request_streaming, handler.response_streaming]()


def _read(environment: Mapping[str, str], name: str) -> bytes | None:
    path = environment.get(name)
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as cause:
        raise AccessError(f"read {name}={path}: {cause.strerror}") from cause


def _tokens(content: bytes) -> tuple[str, ...]:
    try:
        tokens = tuple(line.strip() for line in content.decode("ascii").splitlines() if line.strip())
    except UnicodeDecodeError:
        raise AccessError("SLUICE_TOKENS holds something else than ASCII; legal: one token a line") from None
    if not tokens:
        raise AccessError("SLUICE_TOKENS is empty; legal: one token a line")
    if any(len(token) < MIN_TOKEN for token in tokens):
        raise AccessError(f"SLUICE_TOKENS holds a token of under {MIN_TOKEN} characters; legal: {MIN_TOKEN} or more")
    return tokens
