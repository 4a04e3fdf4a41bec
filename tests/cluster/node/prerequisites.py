"""Everything that the node needs of the machine."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.installs import CLUSTER_APPLICATION, COREDNS, HELM, KUBERNETES_BIN, KUBERNETES_SERVERS, PAUSE

#: Program and Debian's package that brings it.
_PROGRAMS = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "conntrack": "conntrack",
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "openssl": "openssl",
}
_BRIDGE = Path("/usr/lib/cni/bridge")
_CGROUPS = Path("/sys/fs/cgroup")
_LOCK = Path("/run/lock/sluice-node")


def missing() -> list[str]:
    """Each thing that this machine lacks, with its remedy; empty where the node runs."""
    if os.geteuid() != 0:
        return ["root: containers need it"]
    lacking = []
    packages = {package for program, package in _PROGRAMS.items() if shutil.which(program) is None}
    if not _BRIDGE.exists():
        packages.add("containernetworking-plugins")
    if packages:
        lacking.append(f"packages: apt-get install --no-install-recommends {' '.join(sorted(packages))}")
    if not _has_cgroups():
        lacking.append("cgroups: the kubelet needs the controllers cpu, memory and pids under /sys/fs/cgroup, writable")
    programs = (*(KUBERNETES_BIN / name for name in KUBERNETES_SERVERS), COREDNS, PAUSE, CLUSTER_APPLICATION, HELM)
    unbuilt = [path.name for path in programs if not path.exists()]
    if unbuilt:
        lacking.append(f"programs: `make test-cluster` builds {', '.join(unbuilt)}")
    return lacking


def _has_cgroups() -> bool:
    if not os.access(_CGROUPS, os.W_OK):
        return False
    unified = _CGROUPS / "cgroup.controllers"
    if unified.exists():
        return {"cpu", "memory", "pids"} <= set(unified.read_text().split())
    return all((_CGROUPS / name).is_dir() for name in ("cpu", "memory", "pids"))


@contextmanager
def alone() -> Iterator[None]:
    """Holds the one node that a machine may have: addresses, cgroups and settings of the kernel are the machine's."""
    with _LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(f"start a node: another process has one and holds {_LOCK}") from None
        yield
