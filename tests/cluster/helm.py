"""A chart's release on a cluster."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_kit.servers.kubernetes import Kubernetes
from sluice_kit.waiting import until
from stack.installs import HELM
from stack.settings import REPOSITORY

CHARTS = REPOSITORY / "deploy/helm"
_LIMIT_S = 900


@dataclass(frozen=True)
class Release:
    """`name` in `namespace`, of the chart in the folder `chart`, with the files `values` in this order."""

    cluster: Kubernetes
    name: str
    namespace: str
    chart: Path
    values: Sequence[Path]

    def install(self, *words: str) -> None:
        self._helm("install", self.name, str(self.chart), *self._value_flags(), *words)

    def upgrade(self, chart: Path, *words: str) -> None:
        """To another version of the chart, in the folder `chart`."""
        self._helm("upgrade", self.name, str(chart), *self._value_flags(), *words)

    def rollback(self, revision: int) -> None:
        self._helm("rollback", self.name, str(revision))

    def uninstall(self) -> None:
        self._helm("uninstall", self.name)

    def test(self) -> str:
        return self._helm("test", self.name, "--timeout", f"{_LIMIT_S}s")

    def exists(self) -> bool:
        found: list[dict[str, Any]] = json.loads(self._helm("list", "-o", "json"))
        return self.name in {each["name"] for each in found}

    def revision(self) -> int:
        newest: dict[str, Any] = json.loads(self._helm("history", self.name, "-o", "json"))[-1]
        return int(newest["revision"])

    def pods(self) -> list[dict[str, Any]]:
        """Those that are neither told to end nor have done their work."""
        pods = self.cluster.get("pods", "-n", self.namespace, "-l", f"app.kubernetes.io/instance={self.name}")["items"]
        return [
            pod
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] not in ("Succeeded", "Failed")
        ]

    def unready(self) -> list[str]:
        """What keeps the release from being complete, one line each."""
        causes = [_cause(pod) for pod in self.pods()]
        objects = self.cluster.get("deployments,statefulsets", "-n", self.namespace, "-l", self._selector())["items"]
        for workload in objects:
            status, wanted = workload["status"], workload["spec"]["replicas"]
            ready = min(status.get("readyReplicas", 0), status.get("updatedReplicas", 0))
            if ready != wanted or status.get("observedGeneration") != workload["metadata"]["generation"]:
                causes.append(f"{workload['kind']} {workload['metadata']['name']}: {ready} of {wanted} ready")
        jobs = self.cluster.get("jobs", "-n", self.namespace, "-l", self._selector())["items"]
        causes += [f"Job {job['metadata']['name']}: not done" for job in jobs if not job["status"].get("succeeded")]
        return [cause for cause in causes if cause]

    def wait_ready(self) -> None:
        """Fails with the causes when nothing of them changes any more."""
        try:
            until("the release is ready", lambda: not self.unready())
        except AssertionError as error:
            raise AssertionError(f"{error}: {'; '.join(self.unready())}") from None

    def _selector(self) -> str:
        return f"app.kubernetes.io/instance={self.name}"

    def _value_flags(self) -> list[str]:
        return [word for path in self.values for word in ("--values", str(path))]

    def _helm(self, *words: str) -> str:
        place = ("--kubeconfig", str(self.cluster.kubeconfig), "--namespace", self.namespace)
        done = subprocess.run([str(HELM), *words, *place], capture_output=True, text=True, timeout=_LIMIT_S + 60)
        assert done.returncode == 0, f"helm {' '.join(words)}: {done.stderr[-3000:]}"
        return done.stdout


def _cause(pod: dict[str, Any]) -> str:
    conditions = {each["type"]: each for each in pod["status"].get("conditions", [])}
    if conditions.get("Ready", {}).get("status") == "True":
        return ""
    waits = [
        f"{status['name']} {state.get('reason', '')} {state.get('message', '')}"
        for status in pod["status"].get("containerStatuses", [])
        if (state := status["state"].get("waiting"))
    ]
    scheduled = conditions.get("PodScheduled", {}).get("message", "")
    return f"Pod {pod['metadata']['name']}: {'; '.join(waits) or scheduled or 'not ready'}"
