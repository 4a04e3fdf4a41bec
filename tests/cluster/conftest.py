"""One node for all tests of this folder; each is skipped, with the reason, where the machine cannot run it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import application, archives, installed
from cluster.helm import CHARTS, Release
from cluster.node.images import import_archive, program_image
from cluster.node.prerequisites import alone, missing
from cluster.node.start import client, node
from cluster.queries import Queries
from sluice_kit import waiting
from sluice_kit.servers.kubernetes import Kubernetes
from stack.installs import CLUSTER_APPLICATION


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A busy machine takes ten times as long as an idle one. The release is uninstalled last."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(7200))
    items.sort(key=lambda item: item.path == Path(__file__).with_name("test_uninstall.py"))


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """A pod of Flink starts in 40 s on two idle cores, and took 10 minutes beside other stacks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "PATIENCE_S", 1200.0)
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[Kubernetes]:
    """SLUICE_NODE: the folder of a node that runs already (`python -m cluster.node`), which stays."""
    if lacking := missing():
        pytest.skip("a node does not run here; missing " + "; ".join(lacking))
    if running := os.environ.get("SLUICE_NODE"):
        yield client(Path(running))
        return
    # containerd's layers need a disk; /tmp may be memory.
    with alone(), tempfile.TemporaryDirectory(prefix="sluice-node-", dir="/var/tmp") as folder:
        with node(Path(folder)) as cluster:
            yield cluster


@pytest.fixture(scope="session")
def sluice(cluster: Kubernetes) -> Queries:
    """The chart with all pods ready; the shop is under load."""
    release = installed.release(cluster)
    if not release.exists():
        if lacking := archives.missing():
            remedy = "tests/cluster/save-images.sh writes them"
            pytest.skip(f"no archives of {', '.join(lacking)} in {archives.folder()}; {remedy}")
        archives.import_all(cluster.folder)
        installed.prepare(cluster)
        release.install()
    release.wait_ready()
    return Queries(release)


@pytest.fixture(scope="session")
def actuator(sluice: Queries) -> Kubernetes:
    """The cluster with the actuator's chart beside the server, and a namespace for the application."""
    cluster, release = sluice.release.cluster, sluice.release
    values = Path(__file__).with_name("actuator.yaml")
    actuator = Release(cluster, "actuator", release.namespace, CHARTS / "sluice-actuator", (values,))
    if not actuator.exists():
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": application.NAMESPACE}})
        program_image(cluster.folder / "application.tar", application.IMAGE, CLUSTER_APPLICATION)
        import_archive(cluster.folder, cluster.folder / "application.tar")
        cluster.apply(application.token(release.namespace))
        actuator.install()
    actuator.wait_ready()
    return cluster
