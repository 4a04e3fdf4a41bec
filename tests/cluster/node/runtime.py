"""The commands and files of containerd, kubelet and kube-proxy, and of the pods' bridge (CNI)."""

import json
from pathlib import Path
from typing import Any

import yaml

from cluster.node.addresses import BRIDGE, DNS_SERVICE, NAME, NODE, PODS
from stack.installs import KUBERNETES_BIN

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"

_CONTAINERD = """
version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"""


def socket(folder: Path) -> Path:
    return folder / "containerd.sock"


def runtime(folder: Path) -> dict[str, list[str]]:
    """By name of the server. `folder` has pki/ and NAME.kubeconfig of each user."""
    (folder / "cni").mkdir()
    (folder / "cni/10-bridge.conflist").write_text(json.dumps(_bridge(folder)))
    (folder / "containerd.toml").write_text(_CONTAINERD.format(folder=folder, pause=PAUSE_IMAGE))
    (folder / "kubelet.yaml").write_text(yaml.safe_dump(_kubelet(folder)))
    return {
        "containerd": ["containerd", "-c", str(folder / "containerd.toml")],
        "kubelet": [
            str(KUBERNETES_BIN / "kubelet"), f"--config={folder / 'kubelet.yaml'}",
            f"--kubeconfig={folder / 'kubelet.kubeconfig'}", f"--root-dir={folder / 'kubelet'}",
            f"--cert-dir={folder / 'pki'}", f"--hostname-override={NAME}", f"--node-ip={NODE}",
        ],
        "kube-proxy": [
            str(KUBERNETES_BIN / "kube-proxy"), f"--kubeconfig={folder / 'proxy.kubeconfig'}", "--proxy-mode=nftables",
            f"--hostname-override={NAME}", f"--cluster-cidr={PODS}", "--oom-score-adj=0",
            "--metrics-bind-address=127.0.0.1:10249", "--healthz-bind-address=127.0.0.1:10256",
            # 0: leave the machine's limits of connection tracking alone.
            "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0",
            "--conntrack-tcp-timeout-close-wait=0",
        ],
    }  # fmt: skip


def _bridge(folder: Path) -> dict[str, Any]:
    """Pods have no way out of the machine: nothing masquerades their addresses."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": PODS, "gateway": NODE}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(folder / "addresses"),
    }
    plugin = {"type": "bridge", "bridge": BRIDGE, "isGateway": True, "hairpinMode": True, "ipam": addresses}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [plugin]}


def _kubelet(folder: Path) -> dict[str, Any]:
    pki = folder / "pki"
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE,
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "containerRuntimeEndpoint": f"unix://{socket(folder)}",
        "podLogsDir": str(folder / "pod-logs"),
        "volumePluginDir": str(folder / "volume-plugins"),
        "clusterDomain": "cluster.local",
        "clusterDNS": [DNS_SERVICE],
        "resolvConf": "",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / "kubelet.crt"),
        "tlsPrivateKeyFile": str(pki / "kubelet.key"),
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 99,
        "imageGCLowThresholdPercent": 98,
    }
