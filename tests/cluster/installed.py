"""The chart `sluice` as users install it: the Secret by the script, values-demo.yaml, then values.yaml from here."""

import os
import subprocess
from pathlib import Path

from cluster.helm import CHARTS, Release
from cluster.node.volumes import volumes
from sluice_kit.servers.kubernetes import Kubernetes
from stack.installs import KUBERNETES_BIN

NAME = NAMESPACE = "sluice"
CHART = CHARTS / "sluice"
VALUES = (CHART / "values-demo.yaml", Path(__file__).with_name("values.yaml"))
_VOLUMES = 8


def release(cluster: Kubernetes) -> Release:
    return Release(cluster, NAME, NAMESPACE, CHART, VALUES)


def prepare(cluster: Kubernetes) -> None:
    """Everything that an install needs on the cluster: volumes, the namespace with its Secret."""
    cluster.apply(*volumes(cluster.folder, NAME, _VOLUMES))
    path = f"{KUBERNETES_BIN}:{os.environ['PATH']}"
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig), "PATH": path}
    command = ["sh", str(CHARTS / "secrets.sh"), NAMESPACE, NAME]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
