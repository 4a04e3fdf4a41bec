"""Two actuators on two servers have one target: its owner writes it, and the other once the answers name nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import gethostname
from subprocess import Popen
from threading import Thread

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.model.keys import PoolKey
from sluice.pools.names import message_of, pool_name
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import Log, killed
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until
from stack.installs import BIN

CART = PoolKey("cart", "server", "")
LEASE_S = 3600


class Pool:
    """A pool that any number of processes reach, and who wrote which size."""

    def __init__(self, port: int) -> None:
        self.size = 64
        self.written: list[tuple[str, int]] = []
        pool = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps({"size": pool.size}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_PUT(self) -> None:
                pool.size = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["size"]
                pool.written.append((self.headers["X-Writer"], pool.size))
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()


def recommend(log: Log, revision: int, target: int, owner: str = "") -> None:
    """owner: who the decider has as the reporter of the target; empty where nobody reported it for a minute."""
    size = PoolSize(pool=message_of(CART), state=STATE_PROVIDED, action=ACTION_APPLY, target=target, revision=revision)
    if owner:
        size.sizes.add(instance="cart-1", size=64, reporter=owner)
    log.commit(("decisions", pool_name(CART), size), lease_s=LEASE_S)


@dataclass
class Actuator:
    """process: as it runs. reporter: what its reports carry."""

    process: Popen[bytes]
    reporter: str


@contextmanager
def actuator(name: str, server: str, url: str, folder: Path) -> Iterator[Actuator]:
    (page,) = free_ports(1)
    target = {
        "name": "threads", "instance": "cart-1", "pool": {"service": "cart", "side": "server"}, "apply": True,
        "min": 1, "max": 100, "max_factor": 100, "cooldown": "0s",
        "http": {"headers": {"X-Writer": name}, "read": {"url": url}, "write": {"url": url}},
    }  # fmt: skip
    settings = {
        "name": name, "status_address": f"127.0.0.1:{page}",
        "recommender": {"address": server, "interval": "200ms"}, "targets": [target],
    }  # fmt: skip
    config = folder / f"{name}.yaml"
    config.write_text(json.dumps(settings))
    words: list[str | Path] = [BIN / "sluice-actuator", "--config", config]
    with running(name, words, answers(f"http://127.0.0.1:{page}/readyz"), folder / f"{name}.log", 60) as process:
        yield Actuator(process, f"{name}@{gethostname()} 127.0.0.1:{page}")


def test_one_of_two_actuators_writes_a_target(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    recommend(log, 1, 12)
    one, two, port = free_ports(3)
    pool = Pool(port)
    url = f"http://127.0.0.1:{port}/threads"

    def words(name: str) -> str:
        return (tmp_path / f"{name}.log").read_text()

    with ExitStack() as up:
        first = up.enter_context(ExitStack())
        for server, stack in ((one, first), (two, up)):
            stack.enter_context(killed(log, f"127.0.0.1:{server}", tmp_path))
        a = up.enter_context(actuator("a", f"127.0.0.1:{one}", url, tmp_path))
        until("a wrote", lambda: pool.written == [("a", 12)])
        recommend(log, 2, 16, owner=a.reporter)
        until("a wrote again", lambda: len(pool.written) == 2)

        b = up.enter_context(actuator("b", f"127.0.0.1:{two}", url, tmp_path))
        until("b is refused", lambda: "rejected a report" in words("b"))
        assert a.reporter in words("b")
        assert b.reporter in words("b")
        a.process.kill()
        first.close()  # its server, too
        recommend(log, 3, 20, owner=a.reporter)  # it was here less than a minute ago
        until("b looks on", lambda: f'code=foreign current=16 detail="{a.reporter} owns' in words("b"))
        assert pool.written == [("a", 12), ("a", 16)]

        recommend(log, 4, 24)
        until("b wrote", lambda: len(pool.written) == 3)
    assert pool.written == [("a", 12), ("a", 16), ("b", 24)]
