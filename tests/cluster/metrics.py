"""metrics.k8s.io with the kubelet's own figures (/metrics/resource), as metrics-server serves it."""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests

from cluster.node.addresses import MACHINE, NODE
from sluice_kit.fakes.kube_metrics import served
from sluice_kit.servers.kubernetes import Kubernetes

_READ_S = 5.0
#: Labels, seconds of CPU, and the time of the sample in milliseconds.
_CPU = re.compile(
    r'^container_cpu_usage_seconds_total\{container="([^"]+)",namespace="([^"]+)",pod="([^"]+)"\} (\S+) (\d+)', re.M
)
Container = tuple[str, str, str]


class _Usage(threading.Thread):
    """Cores of each container between its two newest samples."""

    def __init__(self, cluster: Kubernetes) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self._pki = cluster.folder / "pki"
        self._samples: dict[Container, tuple[float, int]] = {}
        self._cores: dict[Container, float] = {}

    def run(self) -> None:
        while not self.stopping.wait(_READ_S):
            try:
                self._take(self._read())
            except requests.RequestException as error:
                print(f"read the kubelet's figures: {error}", flush=True)

    def of(self, pod: dict[str, Any]) -> Mapping[str, float]:
        place = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        return {name: cores for (name, *rest), cores in list(self._cores.items()) if tuple(rest) == place}

    def _read(self) -> str:
        login = (str(self._pki / "admin.crt"), str(self._pki / "admin.key"))
        url = f"https://{NODE}:10250/metrics/resource"
        return requests.get(url, cert=login, verify=str(self._pki / "ca.crt"), timeout=30).text

    def _take(self, page: str) -> None:
        for name, namespace, pod, seconds, at_ms in _CPU.findall(page):
            key, sample = (name, namespace, pod), (float(seconds), int(at_ms))
            before = self._samples.get(key, sample)
            if sample[1] > before[1]:
                self._cores[key] = 1000 * (sample[0] - before[0]) / (sample[1] - before[1])
            self._samples[key] = sample


@contextmanager
def kubelet_metrics(cluster: Kubernetes) -> Iterator[None]:
    usage = _Usage(cluster)
    usage.start()
    pki = cluster.folder / "pki"
    try:
        with served(cluster, MACHINE, usage.of, (pki / "apiserver.crt", pki / "apiserver.key")):
            yield
    finally:
        usage.stopping.set()
        usage.join()
