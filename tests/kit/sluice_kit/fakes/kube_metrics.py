"""The API `metrics.k8s.io` of a test's Kubernetes, with figures of pods that the test brings."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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

    def cores(pod: dict[str, Any]) -> dict[str, float]:
        return {container["name"]: usage.cores for container in pod["spec"]["containers"]}

    with served(cluster, "127.0.0.1", cores):
        yield usage


@contextmanager
def served(
    cluster: Kubernetes,
    host: str,
    cores: Callable[[dict[str, Any]], Mapping[str, float]],
    identity: tuple[Path, Path] | None = None,
) -> Iterator[None]:
    """Serves at `host` what `cores` returns for a pod: CPU in cores by container; nothing: the pod is not known yet.

    identity: the server's certificate and key; by default the API server's.
    """

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
                self._answer(_pod_metrics(cluster, namespace, selector, cores))
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

    server = ThreadingHTTPServer((host, 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*(identity or (cluster.certificate, cluster.key)))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        cluster.apply(*_registered("localhost" if host == "127.0.0.1" else host, server.server_port))
        yield
    finally:
        server.shutdown()
        server.server_close()


def _pod_metrics(
    cluster: Kubernetes, namespace: str, selector: str, cores: Callable[[dict[str, Any]], Mapping[str, float]]
) -> dict[str, Any]:
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
        "items": [_metrics_of(pod, usage) for pod in pods if (usage := cores(pod))],
    }


def _metrics_of(pod: dict[str, Any], cores: Mapping[str, float]) -> dict[str, Any]:
    return {
        "metadata": {name: pod["metadata"][name] for name in ("name", "namespace")},
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "window": "1s",
        "containers": [
            {"name": name, "usage": {"cpu": f"{int(used * 1000)}m", "memory": "1Mi"}} for name, used in cores.items()
        ],
    }


def _registered(host: str, port: int) -> list[dict[str, Any]]:
    service = {"namespace": "kube-system", "name": "metrics", "port": port}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": "kube-system", "name": "metrics"},
            "spec": {"type": "ExternalName", "externalName": host, "ports": [{"port": port}]},
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
