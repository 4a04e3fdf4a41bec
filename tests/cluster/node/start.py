"""Starts the node, waits until it takes pods, and leaves the machine as it was."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import requests
import yaml

from cluster.node import addresses, cgroups, dns, tunables
from cluster.node.control_plane import control_plane
from cluster.node.images import import_archive, program_image
from cluster.node.pki import certificates, kubeconfig
from cluster.node.runtime import PAUSE_IMAGE, runtime
from sluice_kit.machine.processes import StartError, running
from sluice_kit.servers.kubernetes import Kubernetes
from stack.installs import COREDNS, PAUSE

LIMIT_S = 600.0


@contextmanager
def node(folder: Path) -> Iterator[Kubernetes]:
    """A cluster whose one node is ready and whose DNS answers. folder: absolute, on a disk that is no overlay."""
    (folder / "logs").mkdir()
    certificates(folder / "pki")
    for user in ("admin", "controllers", "scheduler", "kubelet", "proxy"):
        document = kubeconfig(folder / "pki", user, addresses.URL)
        (folder / f"{user}.kubeconfig").write_text(yaml.safe_dump(document))
    cluster = client(folder)
    servers = control_plane(folder) | runtime(folder)
    plan = {
        "layers": str(folder / "layers"),
        "logs": str(folder / "logs"),
        "interface": addresses.NODE_INTERFACE,
        "network": _inside(),
        "servers": servers,
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable]
    init = [*command, str(Path(__file__).with_name("init.py")), str(folder / "plan.json")]
    with ExitStack() as up:
        up.enter_context(tunables.restored())
        up.callback(_remove_cgroups)
        process = up.enter_context(running("node", init, lambda: True, folder / "logs/init.log", LIMIT_S))
        up.enter_context(_joined(process.pid))
        _wait("API server", lambda: _is_ready(cluster), process, folder)
        _wait("containerd", lambda: _takes_images(folder), process, folder)
        _wait("node", lambda: _node_is_ready(cluster), process, folder)
        cluster.apply(*dns.manifests())
        yield cluster


def client(folder: Path) -> Kubernetes:
    """Of the node that runs in `folder`."""
    return Kubernetes(addresses.URL, folder, folder / "pki/ca.crt", folder / "pki/ca.key")


def _inside() -> list[list[str]]:
    """Commands that join the node's namespace with its two networks."""
    link, bridge, end = addresses.NODE_INTERFACE, addresses.BRIDGE, f"{addresses.NODE_END}/30"
    lines = [
        "ip link set lo up",
        f"ip link add {bridge} type bridge",
        f"ip address add {addresses.NODE}/24 dev {bridge}",
        f"ip link set {bridge} up",
        f"ip address add {end} dev {link}",
        f"ip link set {link} up",
    ]
    return [line.split() for line in lines]


@contextmanager
def _joined(pid: int) -> Iterator[None]:
    """The machine's end of the pair, and its routes; both go with the node's namespace, or at the end of the block."""
    ours, theirs = addresses.MACHINE_INTERFACE, addresses.NODE_INTERFACE
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        time.sleep(0.05)
    lines = [
        f"link add {ours} type veth peer name {theirs} netns {children[0]}",
        f"address add {addresses.MACHINE}/30 dev {ours}",
        f"link set {ours} up",
        *(f"route add {network} via {addresses.NODE_END}" for network in (addresses.PODS, addresses.SERVICES)),
    ]
    try:
        for line in lines:
            subprocess.run(["ip", *line.split()], check=True, capture_output=True, text=True)
        yield
    finally:
        subprocess.run(["ip", "link", "delete", ours], capture_output=True)


def _is_ready(cluster: Kubernetes) -> bool:
    try:
        return requests.get(f"{cluster.url}/readyz", timeout=5, verify=str(cluster.certificate)).ok
    except requests.RequestException:
        return False


def _takes_images(folder: Path) -> bool:
    programs = {PAUSE_IMAGE: PAUSE, dns.IMAGE: COREDNS}
    try:
        for name, program in programs.items():
            program_image(folder / "program.tar", name, program)
            import_archive(folder, folder / "program.tar")
    except RuntimeError:
        return False
    return True


def _node_is_ready(cluster: Kubernetes) -> bool:
    try:
        (status,) = (node["status"] for node in cluster.get("nodes")["items"])
    except (AssertionError, ValueError):
        return False
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in status["conditions"])


def _wait(what: str, condition: Callable[[], bool], process: subprocess.Popen[bytes], folder: Path) -> None:
    """Raises StartError with the ends of all logs."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            logs = [f"{log.name}: {log.read_text(errors='replace')[-500:]}" for log in (folder / "logs").glob("*.log")]
            raise StartError(f"start a node: no {what}\n" + "\n".join(logs))
        time.sleep(0.5)


def _remove_cgroups() -> None:
    deadline = time.monotonic() + 60
    while (kept := cgroups.remove_pods()) and time.monotonic() < deadline:
        time.sleep(0.5)
    if kept:
        print(f"cgroups with processes are left: {' '.join(kept)}", flush=True)
