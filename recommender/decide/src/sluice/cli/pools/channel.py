"""Opens gRPC channels to the recommender: plain on loopback, with TLS and a token where the environment sets them."""

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

import grpc

from sluice.cli.output import CliError


def open_channel(address: str, environment: Mapping[str, str] = os.environ) -> grpc.Channel:
    """SLUICE_TLS_CA: PEM file of the authority that signed the server's certificate. Each call has SLUICE_TOKEN, or the
    content of the file SLUICE_TOKEN_FILE.

    Raises:
        CliError: a file cannot be read, or the token would leave this machine without TLS.
    """
    authority = environment.get("SLUICE_TLS_CA")
    token = _token(environment)
    if token and not authority and not _loopback(address):
        raise CliError(
            f"SLUICE_TOKEN would travel to {address} in the clear: set SLUICE_TLS_CA, or use a loopback address"
        )
    channel = grpc.insecure_channel(address) if not authority else _secure(address, authority)
    return grpc.intercept_channel(channel, _Token(token)) if token else channel


def _token(environment: Mapping[str, str]) -> str:
    if not (path := environment.get("SLUICE_TOKEN_FILE")):
        return environment.get("SLUICE_TOKEN", "")
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CliError(f"cannot read SLUICE_TOKEN_FILE={path}: {cause}") from None


def _loopback(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _secure(address: str, authority: str) -> grpc.Channel:
    try:
        trusted = Path(authority).read_bytes()
    except OSError as error:
        raise CliError(f"cannot read SLUICE_TLS_CA={authority}: {error.strerror}") from None
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(trusted))


class _Call(grpc.ClientCallDetails):
    """A copy of another call's details with more metadata."""

    def __init__(self, details: grpc.ClientCallDetails, metadata: tuple[tuple[str, str | bytes], ...]) -> None:
        self.method, self.timeout, self.credentials = details.method, details.timeout, details.credentials
        self.wait_for_ready = getattr(details, "wait_for_ready", None)
        self.compression = getattr(details, "compression", None)
        self.metadata = metadata


class _Token(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[type-arg]
    def __init__(self, token: str) -> None:
        self._header = ("authorization", f"Bearer {token}")

    def intercept_unary_unary(self, go_on, details, request):  # type: ignore[no-untyped-def]
        return go_on(self._with_token(details), request)

    def intercept_unary_stream(self, go_on, details, request):  # type: ignore[no-untyped-def]
        return go_on(self._with_token(details), request)

    def _with_token(self, details: grpc.ClientCallDetails) -> _Call:
        return _Call(details, (*(details.metadata or ()), self._header))
