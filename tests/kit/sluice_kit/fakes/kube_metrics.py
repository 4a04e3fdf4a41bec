"""What metrics-server would say of pods, as a test wants it: the API `metrics.k8s.io` of a test's Kubernetes."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests

from sluice_kit.servers.kubernetes import ADMIN, Kubernetes

GROUP = "/apis/metrics.k8s.io/v1beta1"


class Usage:
    """`cores` are used by each pod, from when they are set."""

    def __init__(self) -> None:
        self.cores = 0.1


@contextmanager
def metrics(cluster: Kubernetes) -> Iterator[Usage]:
    usage = Usage()

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            at = urlsplit(self.path)
            if at.path == GROUP:
                kinds = [{"name": "pods", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}]
                self._answer({"kind": "APIResourceList", "groupVersion": "metrics.k8s.io/v1beta1", "resources": kinds})
            elif at.path.endswith("/pods"):
                namespace = at.path.removeprefix(f"{GROUP}/namespaces/").removesuffix("/pods")
                selector = parse_qs(at.query).get("labelSelector", [""])[0]
                self._answer(_pod_metrics(cluster, namespace, selector, usage.cores))
            else:
                self.send_error(404)

        def _answer(self, document: dict[str, Any]) -> None:
            text = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cluster.certificate, cluster.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        cluster.apply(*_registered(server.server_port))
        yield usage
    finally:
        server.shutdown()
        server.server_close()


def _pod_metrics(cluster: Kubernetes, namespace: str, selector: str, cores: float) -> dict[str, Any]:
    """Of the pods that there are now."""
    pods = requests.get(
        f"{cluster.url}/api/v1/namespaces/{namespace}/pods",
        params={"labelSelector": selector},
        headers={"Authorization": f"Bearer {ADMIN}"},
        verify=str(cluster.certificate),
        timeout=10,
    ).json()["items"]
    return {
        "kind": "PodMetricsList",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {},
        "items": [_one(pod, cores) for pod in pods],
    }


def _one(pod: dict[str, Any], cores: float) -> dict[str, Any]:
    usage = {"cpu": f"{int(cores * 1000)}m", "memory": "1Mi"}
    return {
        "metadata": {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]},
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "window": "1s",
        "containers": [{"name": container["name"], "usage": usage} for container in pod["spec"]["containers"]],
    }


def _registered(port: int) -> list[dict[str, Any]]:
    service = {"namespace": "kube-system", "name": "metrics", "port": port}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": "kube-system", "name": "metrics"},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1beta1.metrics.k8s.io"},
            "spec": {
                "group": "metrics.k8s.io",
                "version": "v1beta1",
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "insecureSkipTLSVerify": True,
                "service": service,
            },
        },
    ]
