"""`sluice pools watch | pause | resume`, and TLS and tokens, against the recommender's own server."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from fakes import CART, DB, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel
from sluice.cli.pools.watching import follow
from sluice.control.loop import ControlLoop
from sluice.control.pauses import Pauses
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice.serve.access import Access
from sluice.serve.server import Server
from sluice.serve.service import PoolSizeService

Run = Callable[..., Result]
TLS = Path(__file__).parents[1] / "serve/tls"
SOURCES = Path(__file__).parents[2] / "src"
TOKEN = "a token of some length"


class Recommender:
    """The real server over the real loop, with made windows."""

    def __init__(self, access: Access | None = None, port: int = 0) -> None:
        clock, store, sizes = FakeClock(), Store(), Sizes()
        self.history, pauses = FakeHistory(), Pauses()
        self.collector = FakeCollector({CART: hump(), DB: hump()})
        self.loop = ControlLoop(config(), self.collector, self.history, MemoryStateLog(), store, sizes, clock, pauses)
        service = PoolSizeService(store, sizes, self.history, clock, pauses=pauses, wake=self.loop.step)
        self.server = Server(service, f"127.0.0.1:{port}", access)
        self.server.start()
        self.loop.step()
        self.address = f"127.0.0.1:{self.server.port}"


@pytest.fixture
def recommender() -> Iterator[Recommender]:
    running = Recommender()
    yield running
    running.server.stop(0)


def test_pausing_and_resuming(run: Run, recommender: Recommender) -> None:
    where = {"SLUICE_RECOMMENDER": recommender.address}
    assert run("pools", "pause", "cart", "--why", "release", "--by", "ada", **where).stdout == "cart/server is paused\n"
    assert recommender.history.paused_pools[CART].by == "ada"
    assert "PAUSED" in run("pools", "get", "cart", **where).stdout
    assert run("pools", "resume", "cart", **where).stdout == "cart/server is resumed\n"
    assert run("pools", "resume", "cart", **where).stdout == "cart/server was not paused\n"
    assert run("pools", "pause", "cart", **where).exit_code == 2


def test_watching_prints_the_state_and_then_changes(recommender: Recommender) -> None:
    command = [sys.executable, "-m", "sluice.cli", "pools", "watch", "--service", "cart"]
    environment = os.environ | {"SLUICE_RECOMMENDER": recommender.address, "PYTHONPATH": str(SOURCES)}
    # A shell's job in the background, as these tests may be, hands an ignored SIGINT on.
    watching = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        recommender.collector.pools[CART] = hump(top=20)
        recommender.loop.step()
        second = watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == -signal.SIGINT
    finally:
        watching.kill()
        watching.wait()
    targets = [int(re.search(r"cart/server PROVIDED current - target (\d+)", line)[1]) for line in (first, second)]  # type: ignore[index]
    assert 11 <= targets[0] <= 14
    assert 18 <= targets[1] <= 24


def test_a_watch_goes_on_over_a_restart() -> None:
    first = Recommender()
    port = first.server.port
    said: list[str] = []
    with open_channel(first.address, {}) as channel:
        events = follow(PoolSizeServiceStub(channel), "cart", said.append, lambda _: time.sleep(0.05))
        kinds = [next(events).WhichOneof("event") for _ in range(2)]
        first.server.stop(0)
        second = Recommender(port=port)
        kinds += [next(events).WhichOneof("event") for _ in range(2)]
        second.server.stop(0)
    assert kinds == ["pool_size", "snapshot"] * 2
    assert said[0].startswith("lost the recommender")
    assert said[-1] == "the recommender is back"


def test_with_tls_and_a_token(run: Run) -> None:
    certificate = TLS / "cert.pem"
    running = Recommender(Access(certificate.read_bytes(), (TLS / "key.pem").read_bytes(), (TOKEN,)))
    where = {"SLUICE_RECOMMENDER": running.address, "SLUICE_TLS_CA": str(certificate)}
    assert "cart/server" in run("pools", "list", SLUICE_TOKEN=TOKEN, **where).stdout
    refused = run("pools", "list", SLUICE_TOKEN="wrong", **where)
    assert refused.exit_code == 1
    assert "UNAUTHENTICATED" in refused.stderr
    assert run("pools", "watch", **where).exit_code == 1
    running.server.stop(0)


def test_an_authority_that_cannot_be_read_is_named() -> None:
    with pytest.raises(CliError, match="SLUICE_TLS_CA=/nowhere"):
        open_channel("127.0.0.1:1", {"SLUICE_TLS_CA": "/nowhere"})


@pytest.mark.parametrize("address", ["10.0.0.1:50051", "recommender:50051", "[fe80::1]:50051"])
def test_a_token_does_not_leave_this_machine_in_the_clear(address: str) -> None:
    with pytest.raises(CliError, match=r"would travel to .* in the clear: set SLUICE_TLS_CA") as caught:
        open_channel(address, {"SLUICE_TOKEN": TOKEN})
    assert TOKEN not in str(caught.value)
    for fine in ("127.0.0.1:1", "localhost:1", "[::1]:1"):
        open_channel(fine, {"SLUICE_TOKEN": TOKEN}).close()
    open_channel(address, {"SLUICE_TOKEN": TOKEN, "SLUICE_TLS_CA": str(TLS / "cert.pem")}).close()
