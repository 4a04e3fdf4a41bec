"""A Deployment behind a Service in a `Kubernetes`, and a log of its pods' lives."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests

from sluice_kit.servers.kubernetes import ADMIN, Kubernetes

PORT = 8080


def service(namespace: str, name: str, replicas: int) -> list[dict[str, Any]]:
    """A rollout replaces a quarter of the pods at a time, as by default."""
    container = {"name": name, "image": name, "ports": [{"name": "http", "containerPort": PORT}]}
    labels = {"app": name}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
    ]


@dataclass
class Life:
    """Moments of a pod by time.monotonic(), as the API server's watch shows them; None before each."""

    ready: float | None = None
    listed: float | None = None
    """Ready in an EndpointSlice."""
    ending: float | None = None
    ended: float | None = None


class PodLog:
    """The lives of pods since the watch began, by name."""

    def __init__(self) -> None:
        self.lives: dict[str, Life] = {}

    def alive(self) -> set[str]:
        """Ready, and not told to end."""
        return {name for name, life in list(self.lives.items()) if life.ready and not life.ending and not life.ended}

    def take_slice(self, event: dict[str, Any]) -> None:
        now = time.monotonic()
        for endpoint in event["object"].get("endpoints") or ():
            if endpoint["conditions"].get("ready"):
                life = self.lives.setdefault(endpoint["targetRef"]["name"], Life())
                life.listed = life.listed or now

    def take(self, event: dict[str, Any]) -> None:
        now, pod = time.monotonic(), event["object"]
        life = self.lives.setdefault(pod["metadata"]["name"], Life())
        conditions = pod.get("status", {}).get("conditions", ())
        if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            life.ready = life.ready or now
        if pod["metadata"].get("deletionTimestamp"):
            life.ending = life.ending or now
        if event["type"] == "DELETED":
            life.ended = now


@contextmanager
def pod_log(cluster: Kubernetes, namespace: str) -> Iterator[PodLog]:
    log, over = PodLog(), threading.Event()
    resources = {
        f"/api/v1/namespaces/{namespace}/pods": log.take,
        f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices": log.take_slice,
    }
    for path, take in resources.items():
        # The thread ends with the process: closing an answer that another thread reads would wait for it.
        threading.Thread(target=_watch, args=(cluster, path, take, over), daemon=True).start()
    try:
        yield log
    finally:
        over.set()


def _watch(cluster: Kubernetes, path: str, take: Callable[[dict[str, Any]], None], over: threading.Event) -> None:
    """The watch goes on where it ended: the API server drops a reader that is slow."""
    headers, certificate, version = {"Authorization": f"Bearer {ADMIN}"}, str(cluster.certificate), "0"
    while not over.is_set():
        try:
            more = {"watch": "1", "resourceVersion": version}
            answer = requests.get(
                cluster.url + path, more, headers=headers, verify=certificate, stream=True, timeout=(10, 60)
            )
            for line in answer.iter_lines(chunk_size=None):
                event = json.loads(line)
                take(event)
                version = event["object"]["metadata"]["resourceVersion"]
        except requests.RequestException:
            over.wait(0.2)
