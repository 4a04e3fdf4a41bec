"""A node is drained: budgets of disruptions keep one pod of each component that has two."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.node.addresses import NAME
from cluster.queries import Queries
from sluice_kit.waiting import until
from stack.installs import KUBERNETES_BIN

BUDGETED = ("server", "collector")


def test_budgets_hold_while_the_node_is_drained(sluice: Queries) -> None:
    """The evicted pods have no other node, so that the drain waits for ever for the second of two."""
    release = sluice.release
    release.wait_ready()
    with _draining(sluice) as drain:
        until("pods of one replica are evicted", lambda: "decider" not in _ready(sluice))
        until("one of two is evicted", lambda: all(_ready(sluice).count(name) == 1 for name in BUDGETED))
        for _ in range(5):
            assert all(_ready(sluice).count(name) == 1 for name in BUDGETED)
            assert drain.poll() is None
            until("the server answers", lambda: bool(sluice.sizes()))
    release.wait_ready()
    until("there is a decision", lambda: sluice.target("cart") > 0)


@contextmanager
def _draining(sluice: Queries) -> Iterator[subprocess.Popen[bytes]]:
    """The node takes pods again after the block."""
    cluster = sluice.release.cluster
    kubectl = [str(KUBERNETES_BIN / "kubectl"), "--kubeconfig", str(cluster.kubeconfig)]
    words = ["drain", NAME, "--delete-emptydir-data", "--ignore-daemonsets", "--force"]
    selector = f"--pod-selector=app.kubernetes.io/instance={sluice.release.name}"
    drain = subprocess.Popen([*kubectl, *words, selector], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield drain
    finally:
        drain.terminate()
        drain.wait()
        cluster.kubectl("uncordon", NAME)


def _ready(sluice: Queries) -> list[str]:
    """The component of each ready pod."""
    return [
        pod["metadata"]["labels"]["app.kubernetes.io/component"]
        for pod in sluice.release.pods()
        if any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", []))
    ]
