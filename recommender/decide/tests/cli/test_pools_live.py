"""`sluice pools watch | pause | resume`, and TLS and tokens, against `sluice-server` and a decider on a journal."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel
from sluice.cli.pools.watching import follow
from sluice.decider.products import codec, products
from sluice.engine.loop import Loop
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard import Identity
from sluice.journal.shards import Shards
from sluice.pools.v1.pool_size_service_pb2 import WatchPoolSizesRequest
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.decide.fakes import CART, DB, FakeClock, FakeCollector, config, hump
from sluice_kit.journal.memory_log import pool_shard
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until

from .processes import interruptible

Run = Callable[..., Result]
TLS = Path(__file__).with_name("tls")
SOURCES = Path(__file__).parents[2] / "src"
TOKEN = "a-token-of-some-length"


class Recommender:
    """The server and the loop, with made windows and a clock that passes a second a period."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.log, self.folder = Log(broker), folder
        broker.topic(f"{self.log.prefix}state", like="sluice_state")
        self.collector, self._clock, self._over = FakeCollector({CART: hump(), DB: hump()}), FakeClock(), False
        names = topics(self.log.prefix)
        client = KafkaBroker(broker.bootstrap, names)
        self.shards = Shards(client, names, Identity("test", 1, 0), codec())
        self.loop = Loop(config(), self.shards, products(lambda: self.collector), self._clock)
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def serving(self, port: int | None = None, **more: str) -> Iterator[str]:
        """By its address."""
        variables = more if port is None else {**more, "SLUICE_RECOMMENDER": f"127.0.0.1:{port}"}
        with serving_at(self.log, self.folder, variables) as address:
            yield address

    def start(self) -> None:
        self._thread.start()
        until("something was decided", lambda: bool(self.loop.owned) and CART in pool_shard(self.loop).answers)

    def stop(self) -> None:
        self._over = True
        self._thread.join()
        self.shards.close()

    def _run(self) -> None:
        while not self._over:
            self.loop.periods()
            self._clock.pass_s(1)
            time.sleep(0.1)


@pytest.fixture
def recommender(broker: Broker, tmp_path: Path) -> Iterator[Recommender]:
    running = Recommender(broker, tmp_path)
    running.start()
    yield running
    running.stop()


@pytest.mark.integration
def test_pausing_and_resuming(run: Run, recommender: Recommender) -> None:
    with recommender.serving() as address:
        where = {"SLUICE_RECOMMENDER": address}

        def state(*words: str) -> str:
            return run("pools", "get", "cart", *words, **where).stdout

        until("it is served", lambda: "PROVIDED" in state())
        paused = run("pools", "pause", "cart", "--why", "release", "--by", "ada", **where)
        assert paused.stdout == "cart/server is paused\n"
        until("the decider heard it", lambda: "PAUSED" in state())
        assert "by ada: release" in run("pools", "explain", "cart", **where).stdout
        assert run("pools", "resume", "cart", **where).stdout == "cart/server is resumed\n"
        until("the decider heard that too", lambda: "PROVIDED" in state())
        assert run("pools", "resume", "cart", **where).stdout == "cart/server was not paused\n"
        held = run("pools", "pause", "cart", "--size", "7", "--why", "a sale", **where)
        assert held.stdout.startswith("cart/server is paused at 7\nnothing is written yet: no actuator")
        until("the decider heard the size", lambda: json.loads(state("-o", "json"))["target"] == 7)
        assert json.loads(state("-o", "json"))["basis"] == "OPERATOR"
        assert run("pools", "resume", "cart", **where).exit_code == 0
        assert run("pools", "pause", "cart", **where).exit_code == 2


@pytest.mark.integration
def test_watching_prints_the_state_and_then_changes(recommender: Recommender) -> None:
    command = interruptible("pools", "watch", "--service", "cart")
    with recommender.serving() as address:
        environment = os.environ | {"SLUICE_RECOMMENDER": address, "PYTHONPATH": str(SOURCES)}
        watching = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            assert watching.stdout is not None
            first = watching.stdout.readline()
            recommender.collector.pools[CART] = hump(top=20)
            second = first
            while target(second) == target(first):
                second = watching.stdout.readline()
            watching.send_signal(signal.SIGINT)
            assert watching.wait(30) == -signal.SIGINT
        finally:
            watching.kill()
            watching.wait()
    assert 11 <= target(first) <= 14
    assert 18 <= target(second) <= 24


def target(line: str) -> int:
    return int(re.search(r"cart/server PROVIDED current - target (\d+)", line)[1])  # type: ignore[index]


@pytest.mark.integration
def test_a_watch_goes_on_over_a_restart_from_where_it_was(recommender: Recommender) -> None:
    (port,) = free_ports(1)
    said: list[str] = []
    with open_channel(f"127.0.0.1:{port}", {}) as channel:
        stub = PoolSizeServiceStub(channel)
        events = follow(
            lambda token: stub.WatchPoolSizes(WatchPoolSizesRequest(service="cart", resume_token=token)),
            said.append,
            lambda _: time.sleep(0.05),
        )
        with recommender.serving(port):
            kinds = [next(events).WhichOneof("event") for _ in range(2)]
        recommender.collector.pools[CART] = hump(top=20)
        with recommender.serving(port):
            rest = []
            while not rest or rest[-1].pool_size.revision < 2:
                rest.append(next(events))
    assert kinds == ["pool_size", "snapshot"]
    assert not [event for event in rest if event.HasField("snapshot")]
    assert said[0].startswith("lost the recommender")
    assert said[-1] == "the recommender is back"


@pytest.mark.integration
def test_with_tls_and_a_token(run: Run, recommender: Recommender, tmp_path: Path) -> None:
    certificate, tokens = TLS / "cert.pem", tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n")
    more = {"SLUICE_TLS_CERT": str(certificate), "SLUICE_TLS_KEY": str(TLS / "key.pem"), "SLUICE_TOKENS": str(tokens)}
    with recommender.serving(**more) as address:
        where = {"SLUICE_RECOMMENDER": address, "SLUICE_TLS_CA": str(certificate)}
        assert "cart/server" in run("pools", "list", SLUICE_TOKEN=TOKEN, **where).stdout
        refused = run("pools", "list", SLUICE_TOKEN="wrong", **where)
        assert refused.exit_code == 1
        assert "UNAUTHENTICATED" in refused.stderr
        assert run("pools", "watch", **where).exit_code == 1
        assert "cart/server" in run("pools", "list", SLUICE_TOKEN_FILE=str(tokens), **where).stdout


def test_an_authority_that_cannot_be_read_is_named() -> None:
    with pytest.raises(CliError, match="SLUICE_TLS_CA=/nowhere"):
        open_channel("127.0.0.1:1", {"SLUICE_TLS_CA": "/nowhere"})


def test_a_token_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="SLUICE_TOKEN_FILE=/nowhere: No such file"):
        open_channel("127.0.0.1:1", {"SLUICE_TOKEN_FILE": "/nowhere"})
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    with pytest.raises(CliError, match=r"SLUICE_TOKEN_FILE=.*: it is not text"):
        open_channel("127.0.0.1:1", {"SLUICE_TOKEN_FILE": str(tmp_path / "token")})


@pytest.mark.parametrize("address", ["10.0.0.1:50051", "recommender:50051", "[fe80::1]:50051"])
def test_a_token_does_not_leave_this_machine_in_the_clear(address: str) -> None:
    with pytest.raises(CliError, match=r"would travel to .* in the clear: set SLUICE_TLS_CA") as caught:
        open_channel(address, {"SLUICE_TOKEN": TOKEN})
    assert TOKEN not in str(caught.value)
    for fine in ("127.0.0.1:1", "localhost:1", "[::1]:1"):
        open_channel(fine, {"SLUICE_TOKEN": TOKEN}).close()
    open_channel(address, {"SLUICE_TOKEN": TOKEN, "SLUICE_TLS_CA": str(TLS / "cert.pem")}).close()
