"""A Kubernetes of its own for tests: a real control plane on 127.0.0.1, and nodes without kubelets (KWOK).

Pods are said to run, at addresses of 127.0.1.0/24, where a test may listen; nothing of them is started.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import running
from stack import toolchain
from stack.installs import KUBERNETES_BIN, KWOK_VERSION, go_environment

ADMIN = "a-test's-own"
#: Where pods are said to be.
PODS = "127.0.1.0/24"


@dataclass(frozen=True)
class Kubernetes:
    """A control plane that is up. `certificate` and `key` are the API server's, for 127.0.0.1 and localhost."""

    url: str
    folder: Path
    certificate: Path
    key: Path

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.kubeconfig_of(ADMIN, "admin")

    def kubeconfig_of(self, token: str, name: str) -> Path:
        path = self.folder / f"{name}.kubeconfig"
        if not path.exists():
            path.write_text(yaml.safe_dump(_kubeconfig(self.url, self.certificate, token)))
        return path

    def kubectl(self, *words: str, text: str | None = None, kubeconfig: Path | None = None) -> str:
        """What it prints. Raises AssertionError with what it says when it fails."""
        command = [str(KUBERNETES_BIN / "kubectl"), "--kubeconfig", str(kubeconfig or self.kubeconfig), *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: dict[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(objects))

    def get(self, *words: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.kubectl("get", "-o", "json", *words))
        return document

    def token(self, namespace: str, account: str) -> str:
        """Of a service account: what it may do, and no more."""
        return self.kubectl("create", "token", account, "-n", namespace).strip()


@contextmanager
def api_server(folder: Path) -> Iterator[Kubernetes]:
    """Starts etcd and an API server alone, and stops them: objects are taken, and nobody acts on them."""
    missing = [name for name in ("etcd", "kube-apiserver", "kubectl", "kwok") if not (KUBERNETES_BIN / name).exists()]
    if missing:
        raise FileNotFoundError(f"start Kubernetes: no {', '.join(missing)}; `make test-long` builds them")
    certificate, key = _certificate(folder)
    etcd, peer, secure = free_ports(3)
    cluster = Kubernetes(f"https://127.0.0.1:{secure}", folder, certificate, key)
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,admin,system:masters\n")
    with ExitStack() as up:
        here = f"http://127.0.0.1:{etcd}"
        _start(
            up, folder, "etcd", lambda: _ok(f"{here}/health"), f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync",
            f"--listen-client-urls={here}", f"--advertise-client-urls={here}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
        )  # fmt: skip
        _start(
            up, folder, "kube-apiserver", lambda: _ok(f"{cluster.url}/readyz", certificate),
            f"--etcd-servers={here}", "--bind-address=127.0.0.1", f"--secure-port={secure}",
            "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}",
            f"--token-auth-file={folder / 'tokens.csv'}", "--authorization-mode=RBAC",
            f"--service-account-issuer={cluster.url}", f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            # Pods need no account of their own; nodes without kubelets are ready by what KWOK says.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        )  # fmt: skip
        yield cluster


@contextmanager
def kubernetes(
    folder: Path, pods: str = PODS, nodes: int = 1, ending_s: float = 0.0, more_controllers: str = ""
) -> Iterator[Kubernetes]:
    """Starts one, whose HorizontalPodAutoscalers act each second, and stops it.

    pods: the addresses of pods; EndpointSlices take none of 127.0.0.0/8. nodes: each in a zone of its own. ending_s:
    how long a pod is terminating, and serves meanwhile. more_controllers: names, each after a comma.
    """
    with ExitStack() as up:
        cluster = up.enter_context(api_server(folder))
        config = f"--kubeconfig={cluster.kubeconfig}"
        _start(
            up, folder, "kube-controller-manager", lambda: True, config, "--leader-elect=false", "--secure-port=0",
            "--controllers=deployment-controller,replicaset-controller,statefulset-controller,"
            "horizontal-pod-autoscaler-controller,garbage-collector-controller,namespace-controller" + more_controllers,
            "--kube-api-qps=100", "--kube-api-burst=100",
            "--horizontal-pod-autoscaler-sync-period=1s", "--horizontal-pod-autoscaler-downscale-stabilization=1s",
            "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
            "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
        )  # fmt: skip
        _start(up, folder, "kube-scheduler", lambda: True, config, "--leader-elect=false", "--secure-port=0")
        stages = _stages(folder, ending_s)
        _start(
            up, folder, "kwok", lambda: True, config, f"--config={stages}", "--manage-all-nodes=true",
            f"--cidr={pods}", "--node-ip=127.0.0.1",
        )  # fmt: skip
        cluster.apply(*(_node(number) for number in range(nodes)))
        yield cluster


def _start(up: ExitStack, folder: Path, name: str, ready: Callable[[], bool], *flags: str) -> None:
    command: list[str | Path] = [KUBERNETES_BIN / name, *flags]
    up.enter_context(running(name, command, ready, folder / f"{name}.log", 120, poll_s=0.2))


def _node(number: int) -> dict[str, Any]:
    size = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": size, "capacity": size},
    }


def _stages(folder: Path, ending_s: float) -> Path:
    """What becomes of nodes and pods, as KWOK has it: they are ready at once, and gone ending_s after a deletion."""
    download = [str(toolchain.go_path()), "mod", "download", "-json", f"sigs.k8s.io/kwok@{KWOK_VERSION}"]
    result = subprocess.run(download, cwd=folder, capture_output=True, text=True, check=True, env=_go())
    stages = Path(json.loads(result.stdout)["Dir"]) / "kustomize/stage"
    names = ("node/fast/node-initialize.yaml", "pod/fast/pod-ready.yaml", "pod/fast/pod-delete.yaml")
    documents = [yaml.safe_load((stages / name).read_text()) for name in names]
    documents[-1]["spec"]["delay"] = {"durationMilliseconds": round(1000 * ending_s)}
    (folder / "stages.yaml").write_text(yaml.safe_dump_all(documents))
    return folder / "stages.yaml"


def _go() -> dict[str, str]:
    return os.environ | go_environment()


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Made by the program that Go brings for it."""
    go = toolchain.go_path()
    root = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    program = f"{root}/src/crypto/tls/generate_cert.go"
    words = [str(go), "run", program, "--host", "127.0.0.1,localhost", "--ca", "--rsa-bits", "2048"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300, env=_go())
    return folder / "cert.pem", folder / "key.pem"


def _kubeconfig(url: str, certificate: Path, token: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": str(certificate)}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }


def _ok(url: str, certificate: Path | None = None) -> bool:
    try:
        return requests.get(url, timeout=5, verify=str(certificate) if certificate else True).ok
    except requests.RequestException:
        return False
