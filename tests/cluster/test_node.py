"""The node does what the other tests rest on: pods run, have names, logs and volumes, and reach each other."""

import socket
import struct
from typing import Any

from cluster.node.addresses import API_SERVICE, DNS_SERVICE
from cluster.node.volumes import volumes
from sluice_kit.servers.kubernetes import Kubernetes
from sluice_kit.waiting import until

GROUP = 65532


def test_a_service_of_the_cluster_has_its_address_by_name(cluster: Kubernetes) -> None:
    until("the name has an address", lambda: _address("kubernetes.default.svc.cluster.local") == API_SERVICE)


def test_a_volume_is_given_to_the_group_of_the_pod_that_claims_it(cluster: Kubernetes) -> None:
    cluster.apply(*volumes(cluster.folder, "node", 1), *_claimant())
    until("the pod runs", lambda: cluster.get("pod", "claimant")["status"]["phase"] == "Running")
    # Its claim has this volume, or another that is free.
    volume = cluster.get("pvc", "data")["spec"]["volumeName"]
    assert (cluster.folder / "volumes" / volume).stat().st_gid == GROUP
    cluster.kubectl("delete", "pod/claimant", "pvc/data", "--now")
    cluster.kubectl("delete", "pv/node-0", "--ignore-not-found")


def test_what_the_kubelet_knows_is_read(cluster: Kubernetes) -> None:
    until("CoreDNS answers", lambda: bool(_address("kubernetes.default.svc.cluster.local")))
    assert "CoreDNS" in cluster.kubectl("logs", "-n", "kube-system", "deployment/kube-dns")


def _claimant() -> list[dict[str, Any]]:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
    }
    container = {
        "name": "pause",
        "image": "registry.k8s.io/pause:3.10",
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "claimant"},
        "spec": {
            "securityContext": {"runAsUser": 65532, "fsGroup": GROUP},
            "containers": [container],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    }
    return [claim, pod]


def _address(name: str) -> str:
    """The first A record that the cluster's DNS has of `name`; empty where it does not answer."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack("!6H", 1, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        client.sendto(query, (DNS_SERVICE, 53))
        try:
            answer = client.recv(512)
        except (TimeoutError, ConnectionRefusedError):
            return ""
    return socket.inet_ntoa(answer[-4:]) if struct.unpack("!H", answer[6:8])[0] else ""
