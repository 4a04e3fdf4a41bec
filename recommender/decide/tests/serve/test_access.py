"""TLS and tokens, over a real port. The certificate in tls/ is for 127.0.0.1 and protects nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.serve.access import Access, AccessError
from sluice.serve.server import AddressError, Server
from sluice.serve.service import PoolSizeService

TLS = Path(__file__).with_name("tls")
CERTIFICATE, KEY = (TLS / "cert.pem").read_bytes(), (TLS / "key.pem").read_bytes()
TOKEN = "a token of some length"


@contextmanager
def server(access: Access, address: str = "127.0.0.1:0") -> Iterator[Server]:
    clock, history, store, sizes = FakeClock(), FakeHistory(), Store(), Sizes()
    ControlLoop(config(), FakeCollector({CART: hump()}), history, MemoryStateLog(), store, sizes, clock).step()
    running = Server(PoolSizeService(store, sizes, history, clock), address, access)
    running.start()
    try:
        yield running
    finally:
        running.stop(0)


def listed(channel: grpc.Channel, token: str | None) -> int:
    metadata = [("authorization", f"Bearer {token}")] if token is not None else []
    stub = rpc.PoolSizeServiceStub(channel)
    return len(stub.ListPoolSizes(api.ListPoolSizesRequest(), metadata=metadata, timeout=5).pool_sizes)


def code_of(channel: grpc.Channel, token: str | None) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        listed(channel, token)
    return caught.value.code()  # type: ignore[no-any-return]


def test_tls_lets_in_who_trusts_the_certificate_and_no_plain_text() -> None:
    with server(Access(CERTIFICATE, KEY)) as running:
        trusted = grpc.ssl_channel_credentials(CERTIFICATE)
        with grpc.secure_channel(f"127.0.0.1:{running.port}", trusted) as channel:
            assert listed(channel, None) == 2
        with grpc.insecure_channel(f"127.0.0.1:{running.port}") as channel:
            assert code_of(channel, None) == grpc.StatusCode.UNAVAILABLE


def test_a_token_is_asked_for_by_every_call_but_health() -> None:
    with server(Access(tokens=(TOKEN, "another one, while keys rotate"))) as running:
        with grpc.insecure_channel(f"127.0.0.1:{running.port}") as channel:
            assert listed(channel, TOKEN) == 2
            assert listed(channel, "another one, while keys rotate") == 2
            for wrong in (None, "", "guessed", TOKEN[:-1], TOKEN + "x"):
                assert code_of(channel, wrong) == grpc.StatusCode.UNAUTHENTICATED
            watch = rpc.PoolSizeServiceStub(channel).WatchPoolSizes(api.WatchPoolSizesRequest(), timeout=5)
            with pytest.raises(grpc.RpcError) as caught:
                next(iter(watch))
            assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
            health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
            assert health.status == health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize(
    ("access", "named"),
    [
        (Access(), "set SLUICE_TLS_CERT, SLUICE_TLS_KEY, SLUICE_TOKENS;"),
        (Access(tokens=(TOKEN,)), "set SLUICE_TLS_CERT, SLUICE_TLS_KEY;"),
        (Access(CERTIFICATE, KEY), "set SLUICE_TOKENS;"),
    ],
)
def test_off_loopback_what_is_lacking_is_named(access: Access, named: str) -> None:
    with pytest.raises(AddressError, match=f"listen on '0.0.0.0:0': {named}"), server(access, "0.0.0.0:0"):
        pass


def test_with_tls_and_tokens_another_address_is_legal() -> None:
    with server(Access(CERTIFICATE, KEY, (TOKEN,)), "0.0.0.0:0") as running:
        trusted = grpc.ssl_channel_credentials(CERTIFICATE)
        with grpc.secure_channel(f"127.0.0.1:{running.port}", trusted) as channel:
            assert listed(channel, TOKEN) == 2
            assert code_of(channel, None) == grpc.StatusCode.UNAUTHENTICATED


def test_what_the_environment_names_is_read(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n\n  {TOKEN}2 \n")
    names = {"SLUICE_TLS_CERT": str(TLS / "cert.pem"), "SLUICE_TLS_KEY": str(TLS / "key.pem")}
    access = Access.from_environment(names | {"SLUICE_TOKENS": str(tokens)})
    assert access == Access(CERTIFICATE, KEY, (TOKEN, TOKEN + "2"))
    assert Access.from_environment({}) == Access()
    assert str(access) == "with TLS, 2 tokens"
    assert str(Access()) == "without TLS, no token asked for"
    assert TOKEN not in repr(access)


@pytest.mark.parametrize(
    ("content", "words"), [("", "is empty"), ("\n \n", "is empty"), ("short", "16"), ("ünlawful characters", "ASCII")]
)
def test_a_token_file_that_cannot_be_used_is_named(tmp_path: Path, content: str, words: str) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(content)
    with pytest.raises(AccessError, match=f"SLUICE_TOKENS.*{words}"):
        Access.from_environment({"SLUICE_TOKENS": str(tokens)})


def test_half_of_a_key_pair_and_a_file_that_is_not_there() -> None:
    with pytest.raises(AccessError, match="legal together only"):
        Access.from_environment({"SLUICE_TLS_CERT": str(TLS / "cert.pem")})
    with pytest.raises(AccessError, match="SLUICE_TOKENS=/nowhere"):
        Access.from_environment({"SLUICE_TOKENS": "/nowhere"})


def test_a_certificate_that_is_none_is_an_error_at_the_start() -> None:
    with pytest.raises(AddressError), server(Access(b"no certificate", KEY)):
        pass
