"""Settings of clusters at stock clients: an Envoy calls by TLS and HTTP/2, and a gRPC client of the same server takes
its cluster without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc

from sluice.model.keys import SubsetKey
from sluice.subsets.names import containers_name, message_of, subset_name
from sluice.subsets.v1.log_pb2 import Container, ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED, Endpoint, Subset
from sluice_kit.applications.stock_caller import METHOD
from sluice_kit.applications.stock_clients import (
    backends,
    caller,
    envoy_binary,
    envoy_by_cds,
    grpc_bootstrap,
    listens,
    started,
)
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.servers.secure_kafka import certificates


@contextmanager
def container(name: str, folder: Path) -> Iterator[str]:
    """The address of a server that says its name, by TLS. folder: of its certificate and key."""
    service, _, method = METHOD.strip("/").rpartition("/")
    server = grpc.server(ThreadPoolExecutor(4))
    answer = grpc.unary_unary_rpc_method_handler(lambda request, context: name.encode())
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: answer}),))
    key, certificate = (folder / "key.pem").read_bytes(), (folder / "certificate.pem").read_bytes()
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


def connect(log: Log, service: str, address: str) -> None:
    key, name = SubsetKey("a", "a-1", service), f"{service}-1"
    end = Endpoint(instance=name, address=address, weight=1)
    subset = Subset(key=message_of(key), state=STATE_PROVIDED, revision=1, endpoints=[end])
    everybody = ServiceContainers(service=service, containers=[Container(instance=name, address=address)])
    log.commit(("decisions", containers_name(service), everybody), ("decisions", subset_name(key), subset), lease_s=600)


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
    """A gRPC client gets its clusters without the TLS of Envoys."""
    log = Log(broker)
    certificates(tmp_path)
    server, door = free_ports(2)
    address = f"127.0.0.1:{server}"
    variables = {"SLUICE_XDS_CLUSTERS": json.dumps({"*": tls_and_http2(tmp_path)}), "SLUICE_RECOMMENDER": address}
    config = envoy_by_cds(address, "a~a-1", "DELTA_GRPC", door)
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    manager["codec_type"] = "HTTP2"
    with backends("c-1") as plain, container("b-1", tmp_path) as secure:
        connect(log, "b", secure)
        connect(log, "c", plain["c-1"].address)
        with (
            serving_at(log, tmp_path, variables),
            started(envoy_binary(tmp_path), config, door, lambda: listens(door), tmp_path),
            caller("envoy", f"127.0.0.1:{door}", tmp_path) as through,
            caller("grpc", "xds:///c", tmp_path, grpc_bootstrap(address, "a~a-1")) as proxyless,
        ):
            assert through.shares(100) == {"b-1": 1.0}
            assert proxyless.shares(100) == {"c-1": 1.0}
