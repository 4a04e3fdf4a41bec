"""CoreDNS for the names of Services and pods, as a Deployment behind the address that the kubelet writes into pods."""

from typing import Any

from cluster.node.addresses import DNS_SERVICE

IMAGE = "cluster.test/coredns:1.15.0"
_NAMESPACE, _NAME = "kube-system", "kube-dns"
_LABELS = {"app": _NAME}

_CORE_FILE = """
.:5353 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa {
    pods insecure
    ttl 2
  }
  cache 2
}
"""


def manifests() -> list[dict[str, Any]]:
    return [*_account(), _file(), _deployment(), _service()]


def _account() -> list[dict[str, Any]]:
    subject = {"kind": "ServiceAccount", "name": _NAME, "namespace": _NAMESPACE}
    core = {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"]}
    slices = {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]}
    group = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata()},
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": _NAME}, "rules": [core, slices]},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": _NAME},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": _NAME},
            "subjects": [subject],
        },
    ]


def _file() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(), "data": {"Corefile": _CORE_FILE}}


def _deployment() -> dict[str, Any]:
    container = {
        "name": "coredns",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "volumeMounts": [{"name": "file", "mountPath": "/etc/coredns"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}},
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    }
    pod = {
        "serviceAccountName": _NAME,
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [{"name": "file", "configMap": {"name": _NAME}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(),
        "spec": {
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": pod},
        },
    }


def _service() -> dict[str, Any]:
    ports = [{"name": name, "port": 53, "protocol": name.upper(), "targetPort": 5353} for name in ("udp", "tcp")]
    spec = {"clusterIP": DNS_SERVICE, "selector": _LABELS, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(), "spec": spec}


def _metadata() -> dict[str, str]:
    return {"name": _NAME, "namespace": _NAMESPACE}
