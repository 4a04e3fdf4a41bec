"""The chart `sluice` as users install it: the Secret by the script, values-demo.yaml, then values.yaml from here."""

import os
import subprocess
from pathlib import Path

from cluster.helm import CHARTS, Release
from cluster.node.volumes import volumes
from cluster.queries import Queries
from sluice_kit.servers.kubernetes import Kubernetes
from stack.installs import KUBERNETES_BIN

NAME = NAMESPACE = "sluice"
CHART = CHARTS / "sluice"
VALUES = (CHART / "values-demo.yaml", Path(__file__).with_name("values.yaml"))
_VOLUMES = 8


def install(cluster: Kubernetes) -> Queries:
    """Returns once all pods are ready."""
    cluster.apply(*volumes(cluster.folder, NAME, _VOLUMES))
    make_secret(cluster)
    release = Release(cluster, NAME, NAMESPACE, CHART, VALUES)
    release.install()
    release.wait_ready()
    return Queries(release)


def make_secret(cluster: Kubernetes) -> None:
    path = f"{KUBERNETES_BIN}:{os.environ['PATH']}"
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig), "PATH": path}
    command = ["sh", str(CHARTS / "secrets.sh"), NAMESPACE, NAME]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
