"""Settings of clusters at stock clients: an Envoy calls by TLS and HTTP/2, and a gRPC client opens further connections to a
container whose streams are all in use (gRFC A105)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.applications.stock_caller import METHOD
from sluice_kit.applications.stock_clients import caller, envoy_binary, envoy_by_cds, grpc_bootstrap, listens, started
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.servers.secure_kafka import certificates

#: Calls TARGET three times at once, each of which waits for the other two, and prints how many were answered.
AT_ONCE = """
import sys, grpc
from concurrent.futures import ThreadPoolExecutor
with grpc.insecure_channel(sys.argv[1]) as channel, ThreadPoolExecutor(3) as pool:
    call = channel.unary_unary(sys.argv[2], None, None)
    def once(_):
        try:
            call(b"", timeout=10, wait_for_ready=True)
        except grpc.RpcError:
            return 0
        return 1
    print(sum(pool.map(once, range(3))))
"""


@contextmanager
def container(answer: grpc.RpcMethodHandler, options: list[tuple[str, int]], folder: Path | None) -> Iterator[str]:
    """The address of a server of METHOD. folder: of its certificate and key; None: without TLS."""
    service, _, method = METHOD.strip("/").rpartition("/")
    server = grpc.server(ThreadPoolExecutor(8), options=options)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: answer}),))
    if folder is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        key, certificate = (folder / "key.pem").read_bytes(), (folder / "certificate.pem").read_bytes()
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


def connect(log: Log, address: str) -> None:
    key = SubsetKey("a", "a-1", "b")
    end = Endpoint(instance="b-1", address=address, weight=1)
    subset = Subset(key=message_of(key), state=STATE_PROVIDED, revision=1, endpoints=[end])
    everybody = ServiceContainers(service="b", containers=[Container(instance="b-1", address=address)])
    log.commit(("decisions", containers_name("b"), everybody), ("decisions", subset_name(key), subset), lease_s=600)


def tls_and_http2(folder: Path) -> dict[str, object]:
    http2 = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    context = {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        "common_tls_context": {
            "alpn_protocols": ["h2"],
            "validation_context": {"trusted_ca": {"filename": str(folder / "ca.pem")}},
        },
    }
    options = {
        "@type": f"type.googleapis.com/{http2}",
        "explicit_http_config": {"http2_protocol_options": {}},
    }
    return {
        "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context},
        "typed_extension_protocol_options": {http2: options},
    }


def test_an_envoy_calls_by_tls_and_http_2(broker: Kafka, tmp_path: Path) -> None:
    """The same server has a gRPC client without TLS settings, which keeps the cluster without them."""
    log = Log(broker)
    certificates(tmp_path)
    server, door = free_ports(2)
    address = f"127.0.0.1:{server}"
    variables = {"SLUICE_XDS_CLUSTERS": json.dumps({"b": tls_and_http2(tmp_path)}), "SLUICE_RECOMMENDER": address}
    config = envoy_by_cds(address, "a~a-1", "DELTA_GRPC", door)
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    manager["codec_type"] = "HTTP2"
    name = grpc.unary_unary_rpc_method_handler(lambda request, context: b"b-1")
    with container(name, [], tmp_path) as backend:
        connect(log, backend)
        with (
            serving_at(log, tmp_path, variables),
            started(envoy_binary(tmp_path), config, door, lambda: listens(door), tmp_path),
            caller("envoy", f"127.0.0.1:{door}", tmp_path) as through,
        ):
            assert through.shares(100) == {"b-1": 1.0}


@pytest.mark.parametrize(("connections", "answered"), [(3, "3"), (1, "0")])
def test_a_grpc_client_opens_connections_to_one_container(
    broker: Kafka, tmp_path: Path, connections: int, answered: str
) -> None:
    """Three calls that wait for each other at a container which takes one stream a connection."""
    log = Log(broker)
    together = threading.Barrier(3)

    def wait(request: bytes, context: grpc.ServicerContext) -> bytes:
        try:
            together.wait(8)
        except threading.BrokenBarrierError:
            context.abort(grpc.StatusCode.UNAVAILABLE, "alone")
        return b"b-1"

    handler = grpc.unary_unary_rpc_method_handler(wait)
    clusters = {"*": {"circuit_breakers": {"per_host_thresholds": [{"max_connections": connections}]}}}
    with container(handler, [("grpc.max_concurrent_streams", 1)], None) as backend:
        connect(log, backend)
        with serving_at(log, tmp_path, {"SLUICE_XDS_CLUSTERS": json.dumps(clusters)}) as address:
            bootstrap = json.dumps(grpc_bootstrap(address, "a~a-1"))
            output = subprocess.run(
                [sys.executable, "-c", AT_ONCE, "xds:///b", METHOD],
                env=os.environ | {"GRPC_XDS_BOOTSTRAP_CONFIG": bootstrap},
                capture_output=True,
                text=True,
                timeout=120,
            )
    assert output.stdout.strip() == answered, output.stderr
